// SPDX-License-Identifier: Apache-2.0
#include <attn/autograd/norm.hpp>
#include <attn/nn/norm.hpp>

#include "base/concat.hpp"
#include "nn/rows.hpp"

namespace attn::nn {
namespace {

void check_shape(std::string_view where, const NormShape& shape) {
  if (shape.features < 0) throw Error(where, "features", base::concat(shape.features, ", expected 0 or more"));
  if (!(shape.eps >= 0)) throw Error(where, "eps", base::concat(shape.eps, ", expected 0 or more"));
}

void check_input(std::string_view where, const NormShape& shape, const Input& x) {
  check_numbers(where, "x", x);
  if (x.extent(-1) != shape.features) {
    throw Error(where, "x",
                base::concat("shape ", base::shape_text(x.shape()), ", expected (..., ", shape.features, ")"));
  }
}

// A parameter that no call need widen: f64 stays, for f64's sake, and f32 serves the others.
Tensor ready(const Tensor& parameter) {
  return in_dtype(parameter, parameter.dtype() == DType::f64 ? DType::f64 : DType::f32);
}

DType result_dtype(const Input& x) { return x.dtype() == DType::f64 ? DType::f64 : DType::f32; }

}  // namespace

LayerNorm::LayerNorm(const NormShape& shape) : shape_(shape) { check_shape("LayerNorm", shape); }

void LayerNorm::load(const StateDict& state, const std::string& prefix, Context& context) {
  load_state(*this, state, prefix, context);
}

void LayerNorm::read(StateReader& reader) {
  weight_ = ready(reader.take("weight", {shape_.features}));
  if (shape_.bias) bias_ = ready(reader.take("bias", {shape_.features}));
  weight_variable_ = bias_variable_ = {};
}

void LayerNorm::visit(ParameterVisitor& visitor) {
  visitor.parameter("weight", weight_variable_, {shape_.features}, {.kind = StartKind::ones});
  if (shape_.bias) visitor.parameter("bias", bias_variable_, {shape_.features}, {.kind = StartKind::zeros});
}

Variable LayerNorm::operator()(const Variable& x, Context& context) const {
  check_trainable("LayerNorm", weight_variable_);
  return autograd::layer_norm(x, weight_variable_, bias_variable_, shape_.eps, context);
}

NormOptions LayerNorm::options() const {
  const bool is_trained = weight_variable_.has_value();
  const Tensor& weight = is_trained ? weight_variable_.value() : weight_;
  const Tensor& bias = is_trained ? bias_variable_.value() : bias_;
  if (!weight.has_value()) throw Error("LayerNorm", "weight", "not loaded");
  return {.weight = weight, .bias = bias, .eps = shape_.eps};
}

Tensor LayerNorm::operator()(Input x, Context& context) const {
  const NormOptions norm = options();
  check_input("LayerNorm", shape_, x);
  Tensor copy, y = empty_like_rows(x, shape_.features, result_dtype(x), context);
  attn::layer_norm(as_rows(x, context, copy), rows_of(y), norm, context);
  return y;
}

RMSNorm::RMSNorm(const NormShape& shape) : shape_(shape) { check_shape("RMSNorm", shape); }

void RMSNorm::load(const StateDict& state, const std::string& prefix, Context& context) {
  load_state(*this, state, prefix, context);
}

void RMSNorm::read(StateReader& reader) {
  weight_ = ready(reader.take("weight", {shape_.features}));
  weight_variable_ = {};
}

void RMSNorm::visit(ParameterVisitor& visitor) {
  visitor.parameter("weight", weight_variable_, {shape_.features}, {.kind = StartKind::ones});
}

Variable RMSNorm::operator()(const Variable& x, Context& context) const {
  check_trainable("RMSNorm", weight_variable_);
  return autograd::rms_norm(x, weight_variable_, shape_.eps, context);
}

Tensor RMSNorm::operator()(Input x, Context& context) const {
  const Tensor& weight = weight_variable_.has_value() ? weight_variable_.value() : weight_;
  if (!weight.has_value()) throw Error("RMSNorm", "weight", "not loaded");
  check_input("RMSNorm", shape_, x);
  Tensor copy, y = empty_like_rows(x, shape_.features, result_dtype(x), context);
  attn::rms_norm(as_rows(x, context, copy), rows_of(y), {.weight = weight, .eps = shape_.eps}, context);
  return y;
}

}  // namespace attn::nn
