// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/error.hpp>
#include <attn/io/safetensors.hpp>
#include <utility>

#include "base/concat.hpp"
#include "io/array_bytes.hpp"
#include "io/json.hpp"
#include "io/mapped_file.hpp"
#include "io/near_names.hpp"
#include "io/safetensors_header.hpp"

namespace attn::io {

using base::concat;
using base::shape_text;

// One file or several; each name knows which file its bytes are in.
struct SafeTensors::Impl {
  struct Item {
    TensorInfo info;
    SharedBytes data;
    std::string file;
  };
  std::string name;  // of the file or the index, for messages
  std::vector<std::string> names;
  std::map<std::string, Item, std::less<>> items;
  std::map<std::string, std::string> metadata;

  void list_names() {
    for (const auto& item : items) names.push_back(item.first);
  }
  const Item& at(std::string_view wanted) const {
    const auto found = items.find(wanted);
    if (found == items.end()) throw Error(name, "tensor " + quote(wanted), "absent" + near_names(wanted, names));
    return found->second;
  }
};

SafeTensors SafeTensors::from_memory(std::span<std::byte> bytes, std::shared_ptr<void> owner, std::string name) {
  SafeTensorsHeader header = parse_safetensors_header(name, bytes);
  auto impl = std::make_shared<Impl>();
  for (auto& [tensor, entry] : header.entries) {
    SharedBytes data{bytes.subspan(entry.begin, entry.end - entry.begin), owner};
    impl->items.emplace(tensor, Impl::Item{std::move(entry.info), std::move(data), name});
  }
  impl->list_names();
  impl->metadata = std::move(header.metadata);
  impl->name = std::move(name);
  return SafeTensors(std::move(impl));
}

SafeTensors SafeTensors::open(const std::filesystem::path& file) {
  SharedBytes mapped = map_file(file);
  return from_memory(mapped.bytes, std::move(mapped.owner), file.string());
}

SafeTensors SafeTensors::open_sharded(const std::filesystem::path& index) {
  const SharedBytes mapped = map_file(index);
  auto impl = std::make_shared<Impl>();
  impl->name = index.string();
  const nlohmann::json root = parse_json(impl->name, "", as_text(mapped));
  const auto map = root.is_object() ? root.find("weight_map") : root.end();
  if (map == root.end() || !map->is_object()) {
    throw Error(impl->name, "", "has no weight_map, expected an object of tensor and file names");
  }
  std::map<std::string, SafeTensors> shards;
  for (const auto& [tensor, shard] : map->items()) {
    const std::string part = "tensor " + quote(tensor);
    // A model's files lie in one folder; anything else could name any file of the machine.
    const std::filesystem::path file = shard.is_string() ? shard.get<std::string>() : std::string();
    if (file.empty() || file != file.filename()) {
      throw Error(impl->name, part, concat("in ", text_of(shard), ", expected a file beside the index"));
    }
    auto opened = shards.find(file.string());
    if (opened == shards.end()) opened = shards.emplace(file.string(), open(index.parent_path() / file)).first;
    const Impl& source = *opened->second.impl_;
    const auto item = source.items.find(tensor);
    if (item == source.items.end()) {
      throw Error(source.name, part, concat("absent, expected by the index ", impl->name));
    }
    impl->items.insert(*item);
  }
  for (const auto& shard : shards)
    impl->metadata.insert(shard.second.metadata().begin(), shard.second.metadata().end());
  impl->list_names();
  return SafeTensors(std::move(impl));
}

SafeTensors SafeTensors::open_model(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (!fs::exists(folder, ignored)) throw Error(folder.string(), "", "no such folder");
  if (!fs::is_directory(folder, ignored)) throw Error(folder.string(), "", "is a file, expected a model folder");
  const fs::path file = folder / "model.safetensors", index = folder / "model.safetensors.index.json";
  if (fs::exists(file, ignored)) return open(file);
  if (fs::exists(index, ignored)) return open_sharded(index);
  const fs::path pickle = folder / "pytorch_model.bin";
  if (fs::exists(pickle, ignored)) {
    throw Error(pickle.string(), "",
                "is a Python pickle, expected model.safetensors beside it; in that folder, convert it with: "
                "python3 -c \"import torch; from safetensors.torch import save_file; "
                "save_file({k: v.clone().contiguous() for k, v in "
                "torch.load('pytorch_model.bin', map_location='cpu', weights_only=True).items()}, "
                "'model.safetensors')\"");
  }
  throw Error(folder.string(), "", "holds neither model.safetensors nor model.safetensors.index.json");
}

const std::vector<std::string>& SafeTensors::names() const noexcept { return impl_->names; }
bool SafeTensors::contains(std::string_view name) const noexcept {
  return impl_->items.find(name) != impl_->items.end();
}
const std::map<std::string, std::string>& SafeTensors::metadata() const noexcept { return impl_->metadata; }
const TensorInfo& SafeTensors::info(std::string_view name) const { return impl_->at(name).info; }

Tensor SafeTensors::tensor(std::string_view name) const {
  const Impl::Item& item = impl_->at(name);
  if (item.info.dtype == DType::none) {
    throw Error(item.file, "tensor " + quote(name),
                concat("dtype ", item.info.format_dtype, ", expected one of ", readable_safetensors_names()));
  }
  return tensor_over(item.file, "tensor " + quote(name), {.dtype = item.info.dtype, .shape = item.info.shape},
                     item.data);
}

Tensor SafeTensors::tensor(std::string_view name, const std::vector<std::ptrdiff_t>& shape,
                           const std::vector<DType>& dtypes) const {
  const Impl::Item& item = impl_->at(name);
  const std::string part = "tensor " + quote(name);
  const auto& found = item.info.shape;
  const bool fits = std::equal(found.begin(), found.end(), shape.begin(), shape.end(),
                               [](std::ptrdiff_t n, std::ptrdiff_t wanted) { return wanted == -1 || n == wanted; });
  if (!fits) throw Error(item.file, part, concat("shape ", shape_text(found), ", expected ", shape_text(shape)));
  if (!dtypes.empty() && std::find(dtypes.begin(), dtypes.end(), item.info.dtype) == dtypes.end()) {
    std::string expected;
    for (std::size_t i = 0; i < dtypes.size(); ++i) {
      expected += concat(i == 0 ? "" : i + 1 == dtypes.size() ? " or " : ", ", safetensors_name(dtypes[i]));
    }
    throw Error(item.file, part, concat("dtype ", item.info.format_dtype, ", expected ", expected));
  }
  return tensor(name);
}

}  // namespace attn::io
