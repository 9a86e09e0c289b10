// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/tensor.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "io/mapped_file.hpp"

namespace attn::io {

// What every reader of arrays needs between a header that has been parsed and a Tensor.

enum class Order { row_major, column_major };
enum class Endian { little, big };

struct ArrayLayout {
  DType dtype = DType::none;
  std::vector<std::ptrdiff_t> shape = {};
  Order order = Order::row_major;
  Endian endian = Endian::little;
};

// Bytes of the elements, or nothing when they are more than memory can hold (zero extents count as one, so that the
// strides of an empty array do not overflow either). Extents are 0 or more.
std::optional<std::size_t> array_bytes(DType dtype, std::span<const std::ptrdiff_t> shape);

// A tensor over `data.bytes`, which hold exactly array_bytes(...) of it. The memory is adopted where it is aligned and
// little-endian, and copied otherwise. Throws Error(where, part, ...) for a boolean that is neither 0 nor 1, since
// reading it as a bool would be undefined.
Tensor tensor_over(std::string_view where, std::string_view part, const ArrayLayout& layout, const SharedBytes& data);

// The bytes of a contiguous tensor.
std::span<const std::byte> bytes_of(const Tensor& contiguous);

}  // namespace attn::io
