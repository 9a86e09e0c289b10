// SPDX-License-Identifier: Apache-2.0
#include <attn/autograd/linear.hpp>
#include <attn/error.hpp>

#include "autograd/broadcast.hpp"
#include "autograd/products.hpp"
#include "base/concat.hpp"

namespace attn::autograd {
namespace {

In<2> matrix(const Tensor& t) {
  const auto [rows, columns] = rows_of(t);
  return {t.dtype(), t.data(), {rows, columns}, {columns, std::ptrdiff_t{1}}};
}
Out<2> matrix(Tensor& t) {
  const auto [rows, columns] = rows_of(t);
  return {t.dtype(), t.data(), {rows, columns}, {columns, std::ptrdiff_t{1}}};
}

void check(const Variable& x, const Variable& weight, const Variable& bias) {
  check_operand("linear", "x", x.value());
  check_operand("linear", "weight", weight.value());
  if (weight.value().rank() != 2 || x.value().rank() < 1 || x.extent(-1) != weight.extent(1)) {
    throw Error("linear", "x",
                base::concat("shape ", base::shape_text(x.shape()), ", expected (..., in) for the weight's (out, in) ",
                             base::shape_text(weight.shape())));
  }
  if (!bias.has_value()) return;
  check_operand("linear", "bias", bias.value());
  if (bias.value().rank() != 1 || bias.extent(0) != weight.extent(0)) {
    throw Error("linear", "bias",
                base::concat("shape ", base::shape_text(bias.shape()), ", expected (", weight.extent(0),
                             ") as the weight's outputs"));
  }
}

// Results in the dtype that products are computed in, so that they can be added up without rounding in between.
Tensor weight_grad(const Tensor& dy, const Tensor& x, const ShapeAndDtype& like, Context& context) {
  const DType computed = x.dtype() == DType::f64 || like.dtype == DType::f64 ? DType::f64 : DType::f32;
  Tensor dw = Tensor::empty(computed, like.shape, context.memory());
  multiply_tn(matrix(dense(dy, computed, context)), matrix(dense(x, computed, context)), matrix(dw), context);
  return dense(dw, like.dtype, context);
}

Tensor input_grad(const Tensor& dy, const Tensor& weight, const ShapeAndDtype& like, Context& context) {
  Tensor dx = Tensor::empty(like.dtype, like.shape, context.memory());
  multiply_nt(matrix(dy), transposed(matrix(weight)), {}, matrix(dx), context);
  return dx;
}

}  // namespace

Variable linear(const Variable& x, const Variable& weight, const Variable& bias, Context& context) {
  check(x, weight, bias);
  const Tensor rows = dense(x.value(), x.dtype(), context), w = dense(weight.value(), weight.dtype(), context);
  std::vector<std::ptrdiff_t> shape(x.shape().begin(), x.shape().end());
  shape.back() = weight.extent(0);
  Tensor y = Tensor::empty(x.dtype(), shape, context.memory());
  multiply_nt(matrix(rows), matrix(w), bias.has_value() ? In<1>(bias.value()) : In<1>(), matrix(y), context);

  const bool x_needs = x.needs_grad(), w_needs = weight.needs_grad(), bias_needs = bias.needs_grad();
  const ShapeAndDtype like_x = shape_of(rows), like_w = shape_of(w);
  const ShapeAndDtype like_bias = bias.has_value() ? shape_of(bias.value()) : ShapeAndDtype();
  return record(
      "linear", {x, weight, bias}, y,
      [=, kept_x = w_needs ? rows : Tensor(), kept_w = x_needs ? w : Tensor()](const Tensor& grad, Context& c) {
        const Tensor dy = dense(grad, grad.dtype(), c);
        return std::vector{x_needs ? input_grad(dy, kept_w, like_x, c) : Tensor(),
                           w_needs ? weight_grad(dy, kept_x, like_w, c) : Tensor(),
                           bias_needs ? sum_to(dy, like_bias, 1, c) : Tensor()};
      });
}

}  // namespace attn::autograd
