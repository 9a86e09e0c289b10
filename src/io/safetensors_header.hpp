// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/io/safetensors.hpp>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace attn::io {

inline constexpr std::size_t kMaxHeaderBytes = 100'000'000;  // the limit that the format itself sets
inline constexpr std::string_view kMetadataName = "__metadata__";

struct SafeTensorsEntry {
  TensorInfo info;
  std::size_t begin = 0, end = 0;  // of its bytes, from the start of the file
};

struct SafeTensorsHeader {
  std::map<std::string, SafeTensorsEntry, std::less<>> entries;
  std::map<std::string, std::string> metadata;
};

// Reads and checks the header of a whole file: after it, every entry's bytes lie in the file, are as many as its shape
// says, and no byte belongs to two tensors or to none. Throws Error with `where` as the file's name.
SafeTensorsHeader parse_safetensors_header(std::string_view where, std::span<const std::byte> file);

// The format's name of a dtype ("F32"), which is what messages about a file use.
std::string_view safetensors_name(DType dtype);
// Those of all dtypes that tensors can have: "F32, F64, ...".
std::string readable_safetensors_names();

}  // namespace attn::io
