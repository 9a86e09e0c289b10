// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/autograd/linear.hpp>
#include <attn/error.hpp>

#include "autograd/broadcast.hpp"
#include "autograd/products.hpp"
#include "base/concat.hpp"

namespace attn::autograd {
namespace {

// Matrix n of a row-major stack (..., rows, columns).
template <class AnyView, class Pointer>
AnyView matrix_of(const Tensor& t, Pointer data, std::ptrdiff_t n) {
  const std::ptrdiff_t rows = t.extent(-2), columns = t.extent(-1);
  return {t.dtype(),
          data + n * rows * columns * static_cast<std::ptrdiff_t>(size_of(t.dtype())),
          {rows, columns},
          {columns, std::ptrdiff_t{1}}};
}
In<2> matrix(const Tensor& t, std::ptrdiff_t n) {
  return matrix_of<In<2>>(t, static_cast<const std::byte*>(t.data()), n);
}
Out<2> matrix(Tensor& t, std::ptrdiff_t n) { return matrix_of<Out<2>>(t, static_cast<std::byte*>(t.data()), n); }

std::ptrdiff_t count_of(const Tensor& t) { return product(t.shape().first(t.shape().size() - 2)); }

void check(const Variable& a, const Variable& b) {
  check_operand("matmul", "a", a.value());
  check_operand("matmul", "b", b.value(), a.value());
  const std::span<const std::ptrdiff_t> x = a.shape(), y = b.shape();
  const bool fits = x.size() >= 2 && y.size() >= 2 && x.back() == y[y.size() - 2] &&
                    (y.size() == 2 || (y.size() == x.size() && std::equal(x.begin(), x.end() - 2, y.begin())));
  if (!fits) {
    throw Error("matmul", "b",
                base::concat("shape ", base::shape_text(y), ", expected (..., K, N) for a's (..., M, K) ",
                             base::shape_text(x)));
  }
}

struct Operands {
  Tensor a = {}, b = {};  // row-major; a as one matrix where b serves all
  std::vector<std::ptrdiff_t> a_shape = {}, b_shape = {};
  bool a_needs = false, b_needs = false;

  std::vector<Tensor> backward(const Tensor& grad, Context& c) const {
    const std::vector<std::ptrdiff_t> rows_first(a.shape().begin(), a.shape().end() - 1);
    std::vector<std::ptrdiff_t> y_shape = rows_first;
    y_shape.push_back(b.extent(-1));
    const Tensor dy = dense(grad, grad.dtype(), c).reshape(y_shape);
    Tensor da, db;
    if (a_needs) da = Tensor::empty(a.dtype(), a.shape(), c.memory());
    if (b_needs) db = Tensor::empty(computed_in(b.dtype()), b.shape(), c.memory());
    const Tensor dy_wide = b_needs ? dense(dy, db.dtype(), c) : Tensor(),
                 a_wide = b_needs ? dense(a, db.dtype(), c) : Tensor();
    for (std::ptrdiff_t n = 0; n < count_of(a); ++n) {
      if (a_needs) multiply_nt(matrix(dy, n), matrix(b, n), {}, matrix(da, n), c);
      if (b_needs) multiply_tn(matrix(a_wide, n), matrix(dy_wide, n), matrix(db, n), c);
    }
    if (a_needs) da = da.reshape(a_shape);
    return {da, b_needs ? dense(db, b.dtype(), c) : db};
  }
};

}  // namespace

Variable matmul(const Variable& a, const Variable& b, Context& context) {
  check(a, b);
  Operands o{.a = dense(a.value(), a.dtype(), context),
             .b = dense(b.value(), b.dtype(), context),
             .a_shape = shape_of(a.value()).shape,
             .b_shape = shape_of(b.value()).shape,
             .a_needs = a.needs_grad(),
             .b_needs = b.needs_grad()};
  std::vector<std::ptrdiff_t> shape = o.a_shape;
  shape.back() = b.extent(-1);
  if (b.value().rank() == 2) o.a = o.a.reshape(rows_of(o.a).rows, a.extent(-1));
  std::vector<std::ptrdiff_t> inner(o.a.shape().begin(), o.a.shape().end());
  inner.back() = shape.back();
  Tensor y = Tensor::empty(a.dtype(), inner, context.memory());
  for (std::ptrdiff_t n = 0; n < count_of(o.a); ++n) {
    multiply_nt(matrix(o.a, n), transposed(matrix(o.b, n)), {}, matrix(y, n), context);
  }
  return record("matmul", {a, b}, y.reshape(shape),
                [o = std::move(o)](const Tensor& grad, Context& c) { return o.backward(grad, c); });
}

}  // namespace attn::autograd
