// SPDX-License-Identifier: Apache-2.0
#include <attn/autograd/elementwise.hpp>
#include <attn/autograd/shape.hpp>
#include <attn/nn/positions.hpp>
#include <cmath>

#include "base/concat.hpp"
#include "base/convert.hpp"
#include "nn/rows.hpp"

namespace attn::nn {

Tensor sinusoidal_positions(std::ptrdiff_t tokens, std::ptrdiff_t dim, DType dtype, std::ptrdiff_t first) {
  if (dtype != DType::f32 && dtype != DType::f64) {
    throw Error("sinusoidal_positions", "dtype", base::concat(name_of(dtype), ", expected f32 or f64"));
  }
  Tensor table = Tensor::empty(dtype, tokens, dim);
  for (std::ptrdiff_t p = 0; p < tokens; ++p) {
    for (std::ptrdiff_t c = 0; c < dim; ++c) {
      const double rate = std::pow(10000.0, -static_cast<double>(c - c % 2) / static_cast<double>(dim));
      const double angle = static_cast<double>(first + p) * rate;
      base::store_as(dtype, table.data(), p * dim + c, c % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  return table;
}

Tensor add_positions(Input x, In<2> positions, Context& context) {
  check_numbers("add_positions", "x", x);
  check_numbers("add_positions", "positions", positions);
  if (x.rank() < 2 || x.extent(-1) != positions.extent(1) || x.extent(-2) > positions.extent(0)) {
    throw Error("add_positions", "x",
                base::concat("shape ", base::shape_text(x.shape()), ", expected (..., at most ", positions.extent(0),
                             " tokens, ", positions.extent(1), ")"));
  }
  const std::ptrdiff_t tokens = x.extent(-2), dim = x.extent(-1);
  const DType dtype = x.dtype() == DType::f64 ? DType::f64 : DType::f32;
  Tensor copy, y = empty_like_rows(x, dim, dtype, context);
  const In<2> rows = as_rows(x, context, copy);
  for (std::ptrdiff_t r = 0; r < rows.extent(0); ++r) {
    for (std::ptrdiff_t c = 0; c < dim; ++c) {
      const double token = base::load_as<double>(x.dtype(), rows.data(), r * rows.stride(0) + c * rows.stride(1));
      const double place = base::load_as<double>(positions.dtype(), positions.data(),
                                                 r % tokens * positions.stride(0) + c * positions.stride(1));
      base::store_as(dtype, y.data(), r * dim + c, token + place);
    }
  }
  return y;
}

LearnedPositions::LearnedPositions(const LearnedPositionsShape& shape) : shape_(shape) {
  if (shape.max_tokens < 0 || shape.dim < 0) {
    throw Error("LearnedPositions", "shape",
                base::concat(shape.max_tokens, " x ", shape.dim, ", expected 0 or more of each"));
  }
}

void LearnedPositions::load(const StateDict& state, const std::string& prefix, Context& context) {
  load_state(*this, state, prefix, context);
}

void LearnedPositions::read(StateReader& reader) {
  weight_ = reader.take("weight", {shape_.max_tokens, shape_.dim});
  weight_variable_ = {};
}

void LearnedPositions::visit(ParameterVisitor& visitor) {
  visitor.parameter("weight", weight_variable_, {shape_.max_tokens, shape_.dim},
                    {.kind = StartKind::normal, .scale = 1});
}

Variable LearnedPositions::operator()(const Variable& x, Context& context) const {
  check_trainable("LearnedPositions", weight_variable_);
  if (x.value().rank() < 2 || x.extent(-2) > shape_.max_tokens) {
    throw Error("LearnedPositions", "x",
                base::concat("shape ", base::shape_text(x.shape()), ", expected (..., at most ", shape_.max_tokens,
                             " tokens, ", shape_.dim, ")"));
  }
  return autograd::add(x, autograd::slice(weight_variable_, 0, 0, x.extent(-2)), context);
}

Tensor LearnedPositions::operator()(Input x, Context& context) const {
  const Tensor& weight = weight_variable_.has_value() ? weight_variable_.value() : weight_;
  if (!weight.has_value()) throw Error("LearnedPositions", "weight", "not loaded");
  return add_positions(x, weight, context);
}

}  // namespace attn::nn
