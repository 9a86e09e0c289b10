// SPDX-License-Identifier: Apache-2.0
#include "io/array_bytes.hpp"

#include <algorithm>
#include <attn/error.hpp>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/concat.hpp"

namespace attn::io {
namespace {

static_assert(std::endian::native == std::endian::little, "the readers take the memory of files as it is");

std::vector<std::ptrdiff_t> strides_of(const ArrayLayout& layout) {
  std::vector<std::ptrdiff_t> strides(layout.shape.size());
  std::ptrdiff_t step = 1;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    const std::size_t d = layout.order == Order::column_major ? i : strides.size() - 1 - i;
    strides[d] = step;
    step *= std::max<std::ptrdiff_t>(layout.shape[d], 1);
  }
  return strides;
}

void check_booleans(std::string_view where, std::string_view part, std::span<const std::byte> bytes) {
  const auto wrong = std::find_if(bytes.begin(), bytes.end(), [](std::byte b) { return b > std::byte{1}; });
  if (wrong == bytes.end()) return;
  throw Error(where, part,
              base::concat("element ", wrong - bytes.begin(), " of a boolean array is ", std::to_integer<int>(*wrong),
                           ", expected 0 or 1"));
}

}  // namespace

std::optional<std::size_t> array_bytes(DType dtype, std::span<const std::ptrdiff_t> shape) {
  std::size_t bytes = size_of(dtype);
  bool is_empty = false;
  for (const std::ptrdiff_t n : shape) {
    if (n == 0) is_empty = true;
    const std::size_t extent = static_cast<std::size_t>(std::max<std::ptrdiff_t>(n, 1));
    if (bytes > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / extent) return std::nullopt;
    bytes *= extent;
  }
  return is_empty ? 0 : bytes;
}

Tensor tensor_over(std::string_view where, std::string_view part, const ArrayLayout& layout, const SharedBytes& data) {
  if (layout.dtype == DType::boolean) check_booleans(where, part, data.bytes);
  const std::vector<std::ptrdiff_t> strides = strides_of(layout);
  const std::size_t width = size_of(layout.dtype);
  const bool is_swapped = layout.endian == Endian::big && width > 1;
  if (!is_swapped && reinterpret_cast<std::uintptr_t>(data.bytes.data()) % width == 0 && !data.bytes.empty()) {
    return Tensor::adopt(layout.dtype, data.bytes.data(), layout.shape, strides, data.owner);
  }
  Tensor copy = Tensor::empty(layout.dtype, layout.shape);
  std::byte* to = static_cast<std::byte*>(copy.data());
  if (!data.bytes.empty()) std::memcpy(to, data.bytes.data(), data.bytes.size());
  if (is_swapped) {
    for (std::size_t at = 0; at < data.bytes.size(); at += width) std::reverse(to + at, to + at + width);
  }
  return Tensor::adopt(layout.dtype, to, layout.shape, strides, std::make_shared<Tensor>(copy));
}

std::span<const std::byte> bytes_of(const Tensor& contiguous) {
  return {static_cast<const std::byte*>(contiguous.data()),
          static_cast<std::size_t>(contiguous.size()) * size_of(contiguous.dtype())};
}

}  // namespace attn::io
