// SPDX-License-Identifier: Apache-2.0
#include "autograd/products.hpp"

#include <algorithm>
#include <attn/linear.hpp>

namespace attn::autograd {
namespace {

// Rows that a product over rows takes at a time: what is packed of them stays in the second cache level. An odd number
// of cache lines, so that numbers this far apart do not share their places in the first one.
constexpr std::ptrdiff_t kDepth = 496;

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
    attn::linear(transposed(rows_between(a, begin, end)), packed, y, {.accumulate = begin > 0}, context);
    begin = end;
  } while (begin < a.extent(0));
}

}  // namespace attn::autograd
