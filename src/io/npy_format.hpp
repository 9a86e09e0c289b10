// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/tensor.hpp>
#include <map>
#include <string>
#include <string_view>

#include "io/array_bytes.hpp"
#include "io/mapped_file.hpp"

namespace attn::io {

// The formats in memory, apart from the files that hold them.

struct NpyHeader {
  ArrayLayout layout;
  std::size_t data_begin = 0;
};

// Throws Error(where, part, ...) unless `file` starts with the header of an array that Tensor can hold.
NpyHeader parse_npy_header(std::string_view where, std::string_view part, std::span<const std::byte> file);

// The header that write_npy puts before row-major data; data begin at a multiple of 64. bf16 is announced as f32.
std::string npy_header(std::string_view where, std::string_view part, const Tensor& tensor);

// A whole .npy file, a whole .npz file. Tensors adopt the memory where they can.
Tensor parse_npy(std::string_view where, std::string_view part, const SharedBytes& file);
std::map<std::string, Tensor> parse_npz(std::string_view where, const SharedBytes& file);

// Row-major, and of a type that NumPy has: what stands after npy_header.
Tensor npy_data(const Tensor& tensor);

}  // namespace attn::io
