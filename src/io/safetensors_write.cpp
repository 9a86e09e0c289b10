// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/error.hpp>
#include <attn/io/atomic_file.hpp>
#include <attn/io/safetensors.hpp>
#include <cstdint>

#include "base/concat.hpp"
#include "io/array_bytes.hpp"
#include "io/json.hpp"
#include "io/safetensors_header.hpp"

namespace attn::io {
namespace {

using base::concat;
using Item = std::map<std::string, Tensor>::value_type;

// Widest elements first, so that every tensor is aligned to its element's size without gaps, which the format forbids.
std::vector<const Item*> in_file_order(std::string_view where, const std::map<std::string, Tensor>& tensors) {
  std::vector<const Item*> items;
  for (const Item& item : tensors) {
    if (item.first == kMetadataName) throw Error(where, kMetadataName, "is reserved, expected another tensor name");
    if (!item.second.has_value()) throw Error(where, "tensor " + quote(item.first), "holds nothing");
    items.push_back(&item);
  }
  std::stable_sort(items.begin(), items.end(), [](const Item* a, const Item* b) {
    return size_of(a->second.dtype()) > size_of(b->second.dtype());
  });
  return items;
}

// The length and the JSON, padded with spaces so that the data begin at a multiple of 8.
std::string header_of(std::string_view where, const std::vector<const Item*>& items,
                      const std::map<std::string, std::string>& metadata) {
  nlohmann::json header = nlohmann::json::object();
  if (!metadata.empty()) header[std::string(kMetadataName)] = metadata;
  std::size_t at = 0;
  for (const Item* item : items) {
    const Tensor& tensor = item->second;
    const std::size_t end = at + static_cast<std::size_t>(tensor.size()) * size_of(tensor.dtype());
    header[item->first] = {
        {"dtype", safetensors_name(tensor.dtype())}, {"shape", tensor.shape()}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const nlohmann::json::type_error&) {
    throw Error(where, "header", "a tensor name or metadata is not valid UTF-8");
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > kMaxHeaderBytes) {
    throw Error(where, "header", concat("length ", text.size(), ", expected at most ", kMaxHeaderBytes));
  }
  const std::uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text;
}

}  // namespace

void write_safetensors(const std::filesystem::path& file, const std::map<std::string, Tensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  AtomicFile out(file);
  write_safetensors(out, tensors, metadata);
  out.commit();
}

void write_safetensors(AtomicFile& file, const std::map<std::string, Tensor>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  const std::string where = file.path().string();
  const std::vector<const Item*> items = in_file_order(where, tensors);
  file.write(header_of(where, items, metadata));
  for (const Item* item : items) {
    const Tensor& tensor = item->second;
    file.write(bytes_of(tensor.is_contiguous() ? tensor : tensor.clone()));
  }
}

}  // namespace attn::io
