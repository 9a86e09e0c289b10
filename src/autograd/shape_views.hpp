// SPDX-License-Identifier: Apache-2.0
// Views of a tensor's memory, which keep it alive.
#pragma once

#include <attn/tensor.hpp>
#include <span>

namespace attn::autograd {

// The memory of t from element `offset` on, under other extents and strides.
Tensor viewed(const Tensor& t, std::ptrdiff_t offset, std::span<const std::ptrdiff_t> shape,
              std::span<const std::ptrdiff_t> strides);
// Dimension d of the result is dimension order[d] of t.
Tensor permuted(const Tensor& t, std::span<const int> order);
// Elements begin ... end - 1 of dimension d.
Tensor sliced(const Tensor& t, int d, std::ptrdiff_t begin, std::ptrdiff_t end);
// Copies `from` into `to`, of the same shape and dtype.
void copy_into(const Tensor& from, const Tensor& to);

}  // namespace attn::autograd
