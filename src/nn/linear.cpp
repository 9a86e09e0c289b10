// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/autograd/linear.hpp>
#include <attn/nn/linear.hpp>
#include <cmath>

#include "base/concat.hpp"
#include "nn/rows.hpp"

namespace attn::nn {

Linear::Linear(const LinearShape& shape) : shape_(shape) {
  if (shape.in_features < 0)
    throw Error("Linear", "in_features", base::concat(shape.in_features, ", expected 0 or more"));
  if (shape.out_features < 0) {
    throw Error("Linear", "out_features", base::concat(shape.out_features, ", expected 0 or more"));
  }
}

void Linear::load(const StateDict& state, const std::string& prefix, Context& context) {
  load_state(*this, state, prefix, context);
}

void Linear::read(StateReader& reader) {
  const Tensor weight = reader.take("weight", {shape_.out_features, shape_.in_features});
  if (weight.has_value()) weight_ = PackedWeight(weight, shape_.storage, reader.context());
  // In the dtype of the products, so that no call widens it.
  if (shape_.bias) bias_ = in_dtype(reader.take("bias", {shape_.out_features}), weight_.dtype());
  weight_variable_ = bias_variable_ = {};
}

void Linear::visit(ParameterVisitor& visitor) {
  const double bound = 1 / std::sqrt(static_cast<double>(shape_.in_features));
  const Start start{.kind = StartKind::uniform, .scale = bound};
  visitor.parameter("weight", weight_variable_, {shape_.out_features, shape_.in_features}, start);
  if (shape_.bias) visitor.parameter("bias", bias_variable_, {shape_.out_features}, start);
}

DType Linear::dtype() const {
  if (!weight_variable_.has_value()) return weight_.dtype();
  return weight_variable_.dtype() == DType::f64 ? DType::f64 : DType::f32;
}

Variable Linear::operator()(const Variable& x, Context& context) const {
  check_trainable("Linear", weight_variable_);
  return autograd::linear(x, weight_variable_, bias_variable_, context);
}

Tensor Linear::operator()(Input x, const LinearCall& call, Context& context) const {
  const bool is_trained = weight_variable_.has_value();
  const PackedWeight weight = is_trained ? PackedWeight(weight_variable_.value(), context) : weight_;
  const Tensor& bias = is_trained ? bias_variable_.value() : bias_;
  if (weight.out_features() != shape_.out_features || weight.in_features() != shape_.in_features ||
      bias.has_value() != shape_.bias) {
    throw Error("Linear", "weight", "not loaded");
  }
  check_numbers("Linear", "x", x);
  if (x.extent(-1) != shape_.in_features) {
    throw Error("Linear", "x",
                base::concat("shape ", base::shape_text(x.shape()), ", expected (..., ", shape_.in_features, ")"));
  }
  Tensor x_copy, residual_copy, y = empty_like_rows(x, shape_.out_features, weight.dtype(), context);
  LinearOptions options{.bias = bias, .activation = call.activation, .norm = call.norm};
  if (call.residual.given()) {
    check_numbers("Linear", "residual", call.residual);
    if (!std::equal(y.shape().begin(), y.shape().end(), call.residual.shape().begin(), call.residual.shape().end())) {
      throw Error("Linear", "residual",
                  base::concat("shape ", base::shape_text(call.residual.shape()), ", expected ",
                               base::shape_text(y.shape()), " as the result"));
    }
    options.residual = as_rows(call.residual, context, residual_copy);
  }
  attn::linear(as_rows(x, context, x_copy), weight, rows_of(y), options, context);
  return y;
}

}  // namespace attn::nn
