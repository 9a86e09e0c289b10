// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/tensor.hpp>
#include <attn/version.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn::io {

class AtomicFile;

inline namespace ATTN_ABI {

// What a file's header says of one tensor: the shape is in elements, outermost dimension first.
struct TensorInfo {
  DType dtype = DType::none;  // none: a dtype of the format that is not one of attn's
  std::vector<std::ptrdiff_t> shape = {};
  std::string format_dtype = {};  // as the file calls it: "F32", "F8_E4M3"
  std::size_t bytes = 0;          // of its data
};

}  // namespace ATTN_ABI

// The tensors of a safetensors file (or of a model stored as several), found by name.
//
// Opening reads the header only and checks all of it; every tensor's bytes are read from the disk when they are
// touched. Copies share the mapping, and so do the tensors, each of which keeps it alive. Replacing the file (as
// write_safetensors does) leaves an open one as it was; shortening it in place while it is open is not supported.
//
// Format: https://github.com/huggingface/safetensors, with every rule it states checked. Tensors of dtype F32, F64,
// BF16, F16, I8, U8, BOOL, I32 and I64 can be read; of the format's others (F8_E4M3, U16, ...) only `info` tells.
// Errors name the file, the tensor, what was expected and what was found.
class ATTN_API SafeTensors {
 public:
  // One file. Throws Error when it is absent, truncated or malformed.
  static SafeTensors open(const std::filesystem::path& file);
  // The shards that a `*.safetensors.index.json` names, which lie beside it, as one set of names.
  static SafeTensors open_sharded(const std::filesystem::path& index);
  // A model folder: its model.safetensors, else its model.safetensors.index.json. Throws Error when there is neither;
  // a pytorch_model.bin is refused with the command that converts it.
  static SafeTensors open_model(const std::filesystem::path& folder);
  // A file that already is in memory, kept alive by `owner`. Tensors adopt it. `name` stands in messages.
  static SafeTensors from_memory(std::span<std::byte> bytes, std::shared_ptr<void> owner, std::string name = "memory");

  // Sorted.
  const std::vector<std::string>& names() const noexcept;
  bool contains(std::string_view name) const noexcept;
  // What the file's creator wrote beside the tensors; of a sharded model, that of all shards together.
  const std::map<std::string, std::string>& metadata() const noexcept;

  // Without touching the data. Throws Error for an absent name, with names that are close to it.
  const TensorInfo& info(std::string_view name) const;
  // The tensor itself, without a copy (only data whose offset is not a multiple of the element's size are copied).
  // Writing to it changes memory, never the file. Throws Error for an absent name, and a dtype that is not attn's.
  Tensor tensor(std::string_view name) const;
  // As above, and throws Error unless it has this shape (-1 stands for any extent) and, if some are given, one of these
  // dtypes: file.tensor("wq", {384, 384}, {DType::f32, DType::bf16}).
  Tensor tensor(std::string_view name, const std::vector<std::ptrdiff_t>& shape,
                const std::vector<DType>& dtypes = {}) const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
  explicit SafeTensors(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
};

// Writes tensors and metadata as one file, whole or not at all (see AtomicFile). Data are row-major and each is aligned
// to its element's size, the first to 8 bytes; tensors that are not contiguous are copied one at a time.
// Throws Error for a tensor that holds nothing, a name or metadata that is not UTF-8, and what AtomicFile throws.
ATTN_API void write_safetensors(const std::filesystem::path& file, const std::map<std::string, Tensor>& tensors,
                                const std::map<std::string, std::string>& metadata = {});
// The same into a file that the caller commits.
ATTN_API void write_safetensors(AtomicFile& file, const std::map<std::string, Tensor>& tensors,
                                const std::map<std::string, std::string>& metadata = {});

}  // namespace attn::io
