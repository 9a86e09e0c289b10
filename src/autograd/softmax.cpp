// SPDX-License-Identifier: Apache-2.0
#include "kernels/softmax.hpp"

#include <attn/autograd/softmax.hpp>

#include "autograd/dense.hpp"

namespace attn::autograd {
namespace {

// f(x, y, columns) for each row of x and of the result.
template <class T, class F>
Tensor by_row(const Tensor& x, Context& context, const F& f) {
  const Dense<T> from(x, context);
  Fresh<T> y(x.shape(), context);
  T* to = y.data();
  const auto [rows, columns] = rows_of(x);
  const std::ptrdiff_t width = columns;
  for_each_piece(rows, rows_of_task(columns), context, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t r = begin; r < end; ++r) f(from.data() + r * width, to + r * width, r * width, width);
  });
  return y.finish(x.dtype());
}

template <class T>
Tensor softmax_of(const Tensor& x, Context& context) {
  const std::int64_t target = runtime::ContextAccess::isa(context).target;
  return by_row<T>(x, context, [target](const T* row, T* y, std::ptrdiff_t, std::ptrdiff_t columns) {
    kernels::exp_below(row, kernels::log_sum_exp(row, columns, target), columns, y, target);
  });
}

template <class T>
Tensor log_softmax_of(const Tensor& x, Context& context) {
  const std::int64_t target = runtime::ContextAccess::isa(context).target;
  return by_row<T>(x, context, [target](const T* row, T* y, std::ptrdiff_t, std::ptrdiff_t columns) {
    const T shift = kernels::log_sum_exp(row, columns, target);
    for (std::ptrdiff_t c = 0; c < columns; ++c) y[c] = row[c] - shift;
  });
}

// dx = y (dy - sum of y dy).
template <class T>
Tensor softmax_backward(const Tensor& y, const Tensor& grad, Context& context) {
  const Dense<T> weights(y, context);
  return by_row<T>(grad, context, [&](const T* dy, T* dx, std::ptrdiff_t at, std::ptrdiff_t columns) {
    const T* w = weights.data() + at;
    T sum = 0;
    for (std::ptrdiff_t c = 0; c < columns; ++c) sum += w[c] * dy[c];
    for (std::ptrdiff_t c = 0; c < columns; ++c) dx[c] = w[c] * (dy[c] - sum);
  });
}

// dx = dy - exp(y) (sum of dy).
template <class T>
Tensor log_softmax_backward(const Tensor& y, const Tensor& grad, Context& context) {
  const std::int64_t target = runtime::ContextAccess::isa(context).target;
  const Dense<T> logs(y, context);
  return by_row<T>(grad, context, [&](const T* dy, T* dx, std::ptrdiff_t at, std::ptrdiff_t columns) {
    T sum = 0;
    for (std::ptrdiff_t c = 0; c < columns; ++c) sum += dy[c];
    kernels::exp_below(logs.data() + at, T{0}, columns, dx, target);
    for (std::ptrdiff_t c = 0; c < columns; ++c) dx[c] = dy[c] - dx[c] * sum;
  });
}

}  // namespace

Variable softmax(const Variable& x, Context& context) {
  check_operand("softmax", "x", x.value());
  const Tensor y = with_type(x.dtype(), [&](auto zero) { return softmax_of<decltype(zero)>(x.value(), context); });
  return record("softmax", {x}, y, [y](const Tensor& dy, Context& c) {
    return std::vector{with_type(y.dtype(), [&](auto zero) { return softmax_backward<decltype(zero)>(y, dy, c); })};
  });
}

Variable log_softmax(const Variable& x, Context& context) {
  check_operand("log_softmax", "x", x.value());
  const Tensor y = with_type(x.dtype(), [&](auto zero) { return log_softmax_of<decltype(zero)>(x.value(), context); });
  return record("log_softmax", {x}, y, [y](const Tensor& dy, Context& c) {
    return std::vector{with_type(y.dtype(), [&](auto zero) { return log_softmax_backward<decltype(zero)>(y, dy, c); })};
  });
}

}  // namespace attn::autograd
