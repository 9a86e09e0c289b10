// SPDX-License-Identifier: Apache-2.0
#include "autograd/shape_views.hpp"

#include <cstring>
#include <memory>
#include <vector>

namespace attn::autograd {

Tensor viewed(const Tensor& t, std::ptrdiff_t offset, std::span<const std::ptrdiff_t> shape,
              std::span<const std::ptrdiff_t> strides) {
  auto owner = std::make_shared<Tensor>(t);
  std::byte* data = static_cast<std::byte*>(owner->data()) + offset * static_cast<std::ptrdiff_t>(size_of(t.dtype()));
  return Tensor::adopt(t.dtype(), data, shape, strides, std::move(owner));
}

Tensor permuted(const Tensor& t, std::span<const int> order) {
  std::vector<std::ptrdiff_t> shape, strides;
  for (const int d : order) {
    shape.push_back(t.shape()[static_cast<std::size_t>(d)]);
    strides.push_back(t.strides()[static_cast<std::size_t>(d)]);
  }
  return viewed(t, 0, shape, strides);
}

Tensor sliced(const Tensor& t, int d, std::ptrdiff_t begin, std::ptrdiff_t end) {
  std::vector<std::ptrdiff_t> shape(t.shape().begin(), t.shape().end());
  const std::size_t at = static_cast<std::size_t>(d);
  shape[at] = end - begin;
  return viewed(t, begin * t.strides()[at], shape, t.strides());
}

void copy_into(const Tensor& from, const Tensor& to) {
  if (from.size() == 0) return;
  // What a constant handle refers to may be written; data() of one does not say so.
  auto* const target = static_cast<std::byte*>(const_cast<void*>(to.data()));
  const std::size_t bytes = size_of(from.dtype()), rank = from.shape().size();
  const std::span<const std::ptrdiff_t> shape = from.shape(), a = from.strides(), b = to.strides();
  const std::ptrdiff_t columns = rank == 0 ? 1 : shape.back();
  const std::ptrdiff_t a_step = rank == 0 ? 1 : a.back(), b_step = rank == 0 ? 1 : b.back();
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(bytes);
  for (std::ptrdiff_t r = 0; r < from.size() / columns; ++r) {
    std::ptrdiff_t from_at = 0, to_at = 0, rest = r;
    for (std::size_t d = rank == 0 ? 0 : rank - 1; d-- > 0;) {
      from_at += rest % shape[d] * a[d];
      to_at += rest % shape[d] * b[d];
      rest /= shape[d];
    }
    const std::byte* source = static_cast<const std::byte*>(from.data()) + from_at * size;
    std::byte* place = target + to_at * size;
    if (a_step == 1 && b_step == 1) {
      std::memcpy(place, source, static_cast<std::size_t>(columns) * bytes);
      continue;
    }
    for (std::ptrdiff_t c = 0; c < columns; ++c) {
      std::memcpy(place + c * b_step * size, source + c * a_step * size, bytes);
    }
  }
}

}  // namespace attn::autograd
