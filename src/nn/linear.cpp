// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/nn/linear.hpp>

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
  if (shape_.bias) bias_ = reader.take("bias", {shape_.out_features});
  if (weight.has_value()) weight_ = PackedWeight(weight, reader.context());
}

Tensor Linear::operator()(Input x, const LinearCall& call, Context& context) const {
  if (weight_.out_features() != shape_.out_features || weight_.in_features() != shape_.in_features ||
      bias_.has_value() != shape_.bias) {
    throw Error("Linear", "weight", "not loaded");
  }
  check_numbers("Linear", "x", x);
  if (x.extent(-1) != shape_.in_features) {
    throw Error("Linear", "x",
                base::concat("shape ", base::shape_text(x.shape()), ", expected (..., ", shape_.in_features, ")"));
  }
  Tensor x_copy, residual_copy, y = empty_like_rows(x, shape_.out_features, weight_.dtype(), context);
  LinearOptions options{.bias = bias_, .activation = call.activation};
  if (call.residual.given()) {
    check_numbers("Linear", "residual", call.residual);
    if (!std::equal(y.shape().begin(), y.shape().end(), call.residual.shape().begin(), call.residual.shape().end())) {
      throw Error("Linear", "residual",
                  base::concat("shape ", base::shape_text(call.residual.shape()), ", expected ",
                               base::shape_text(y.shape()), " as the result"));
    }
    options.residual = as_rows(call.residual, context, residual_copy);
  }
  linear(as_rows(x, context, x_copy), weight_, rows_of(y), options, context);
  return y;
}

}  // namespace attn::nn
