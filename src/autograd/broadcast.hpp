// SPDX-License-Identifier: Apache-2.0
// Operands of which one may have the last dimensions of the other only, and is then repeated over the rest.
#pragma once

#include <attn/error.hpp>
#include <string_view>
#include <vector>

#include "autograd/dense.hpp"

namespace attn::autograd {

struct ShapeAndDtype {
  std::vector<std::ptrdiff_t> shape;
  DType dtype = DType::none;
};
inline ShapeAndDtype shape_of(const Tensor& t) { return {{t.shape().begin(), t.shape().end()}, t.dtype()}; }

// Throws Error unless both hold numbers and b's shape is a's, or the end of it.
void check_broadcast(std::string_view where, const Tensor& a, const Tensor& b);

// f(a, b) for each element of a, in a's dtype.
template <class T, class F>
Tensor combine(const Tensor& a, const Tensor& b, Context& context, const F& f) {
  const Dense<T> left(a, context), right(b, context);
  Fresh<T> result(a.shape(), context);
  T* to = result.data();
  const std::ptrdiff_t period = b.size();
  if (period == a.size() || period == 0) {
    for_each_piece(a.size(), kTaskElements, context, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      const T *x = left.data(), *y = right.data();
      for (std::ptrdiff_t i = begin; i < end; ++i) to[i] = f(x[i], y[i]);
    });
  } else {
    for_each_piece(a.size() / period, rows_of_task(period), context, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      for (std::ptrdiff_t r = begin; r < end; ++r) {
        const T *x = left.data() + r * period, *y = right.data();
        T* row = to + r * period;
        for (std::ptrdiff_t i = 0; i < period; ++i) row[i] = f(x[i], y[i]);
      }
    });
  }
  return result.finish(a.dtype());
}

// `factor` times the sum of t over the leading dimensions that `like` lacks; t itself where nothing is to be done.
Tensor sum_to(const Tensor& t, const ShapeAndDtype& like, double factor, Context& context);

// The sum of each column of (rows, columns), over the rows in ascending order, in blocks whose size is fixed.
template <class T>
void column_sums(const T* x, std::ptrdiff_t rows, std::ptrdiff_t columns, T* sums, Context& context) {
  constexpr std::ptrdiff_t kStrip = 64, kBlock = 64;
  for_each_piece(columns, kStrip, context, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    T total[kStrip] = {};
    for (std::ptrdiff_t first = 0; first < rows; first += kBlock) {
      T part[kStrip] = {};
      for (std::ptrdiff_t r = first; r < std::min(rows, first + kBlock); ++r) {
        const T* row = x + r * columns + begin;
        for (std::ptrdiff_t c = 0; c < end - begin; ++c) part[c] += row[c];
      }
      for (std::ptrdiff_t c = 0; c < end - begin; ++c) total[c] += part[c];
    }
    std::copy(total, total + (end - begin), sums + begin);
  });
}

}  // namespace attn::autograd
