// SPDX-License-Identifier: Apache-2.0
#include "autograd/products.hpp"

#include <algorithm>
#include <attn/linear.hpp>
#include <initializer_list>

#include "autograd/dense.hpp"

namespace attn::autograd {
namespace {

// Rows that a product over rows takes at a time: what is packed of them stays in the second cache level. An odd number
// of cache lines, so that numbers this far apart do not share their places in the first one.
constexpr std::ptrdiff_t kDepth = 496;

// to (columns, rows) = from (rows, columns) turned over, in pieces of one cache line by eight: as many lines as share a
// place in the first cache level, where rows are far apart.
template <class T>
void transpose(const T* from, std::ptrdiff_t from_row, std::ptrdiff_t rows, std::ptrdiff_t columns, T* to,
               Context& context) {
  constexpr std::ptrdiff_t kColumns = 64 / static_cast<std::ptrdiff_t>(sizeof(T)), kRows = 8;
  for_each_piece(columns, kColumns, context, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t first = 0; first < rows; first += kRows) {
      const std::ptrdiff_t count = std::min(rows - first, kRows);
      const T* piece = from + first * from_row + begin;
      if (count < kRows || end - begin < kColumns) {
        for (std::ptrdiff_t c = begin; c < end; ++c) {
          for (std::ptrdiff_t r = 0; r < count; ++r) to[c * rows + first + r] = piece[r * from_row + c - begin];
        }
        continue;
      }
      T turned[kColumns][kRows];
      for (std::ptrdiff_t r = 0; r < kRows; ++r) {
        for (std::ptrdiff_t c = 0; c < kColumns; ++c) turned[c][r] = piece[r * from_row + c];
      }
      for (std::ptrdiff_t c = 0; c < kColumns; ++c) {
        std::copy(turned[c], turned[c] + kRows, to + (begin + c) * rows + first);
      }
    }
  });
}

// Rows of `m` turned over: its own memory seen that way, or a copy, where the product would have to read it with steps.
In<2> turned_over(const In<2>& m, Tensor& copy, Context& context) {
  const std::ptrdiff_t rows = m.extent(0), columns = m.extent(1);
  if (m.stride(1) != 1 || rows == 1 || (m.dtype() != DType::f32 && m.dtype() != DType::f64)) return transposed(m);
  copy = Tensor::empty(m.dtype(), std::initializer_list<std::ptrdiff_t>{columns, rows}, context.memory());
  with_type(m.dtype(), [&](auto zero) {
    using T = decltype(zero);
    transpose(static_cast<const T*>(m.data()), m.stride(0), rows, columns, static_cast<T*>(copy.data()), context);
  });
  return std::as_const(copy);
}

}  // namespace

In<2> transposed(const In<2>& m) {
  return {m.dtype(), m.data(), {m.extent(1), m.extent(0)}, {m.stride(1), m.stride(0)}};
}

In<2> rows_between(const In<2>& m, std::ptrdiff_t begin, std::ptrdiff_t end) {
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(size_of(m.dtype()));
  const std::byte* data = static_cast<const std::byte*>(m.data()) + begin * m.stride(0) * size;
  return {m.dtype(), data, {end - begin, m.extent(1)}, m.strides()};
}

void multiply_nt(const In<2>& a, const In<2>& b, const In<1>& bias, const Out<2>& y, Context& context) {
  attn::linear(a, PackedWeight(b, context), y, {.bias = bias}, context);
}

void multiply_tn(const In<2>& a, const In<2>& b, const Out<2>& y, Context& context) {
  std::ptrdiff_t begin = 0;
  do {
    const std::ptrdiff_t end = std::min(a.extent(0), begin + kDepth);
    const PackedWeight packed(transposed(rows_between(b, begin, end)), context);
    Tensor copy;
    attn::linear(turned_over(rows_between(a, begin, end), copy, context), packed, y,
                 {.residual = begin == 0 ? In<2>() : In<2>(y)}, context);
    begin = end;
  } while (begin < a.extent(0));
}

}  // namespace attn::autograd
