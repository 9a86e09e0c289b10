// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <attn/error.hpp>
#include <attn/io/config.hpp>
#include <attn/io/npy.hpp>
#include <attn/io/safetensors.hpp>
#include <attn/models/bert_config.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "joined.hpp"

namespace attn::app {
namespace {

struct InfoCommand {
  CommonOptions common;
  std::filesystem::path path;
};

struct Listing {
  std::string what;  // "BERT encoder, 6 layers of 12 heads, ..."
  std::map<std::string, io::TensorInfo> tensors = {};
  std::map<std::string, std::string> metadata = {};
};

io::TensorInfo info_of(const Tensor& t) {
  return {.dtype = t.dtype(),
          .shape = {t.shape().begin(), t.shape().end()},
          .bytes = static_cast<std::size_t>(t.size()) * size_of(t.dtype())};
}

// A dtype that is not one of attn's goes by the name that the file gives it.
std::string_view dtype_text(const io::TensorInfo& info) {
  return info.dtype == DType::none ? std::string_view(info.format_dtype) : name_of(info.dtype);
}

Listing list_safetensors(const io::SafeTensors& file, std::string what) {
  Listing listing{.what = std::move(what), .metadata = file.metadata()};
  for (const std::string& name : file.names()) listing.tensors.emplace(name, file.info(name));
  return listing;
}

std::string describe_model(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "config.json";
  if (!std::filesystem::exists(file)) return "model folder without a config.json";
  const io::Config config = io::Config::load(file);
  const std::string type = config.get_or<std::string>("model_type", "unknown");
  if (type != "bert") return fmt::format("model of type \"{}\", which attn does not run", type);
  const models::BertConfig bert = models::read_bert_config(config);
  return fmt::format("BERT encoder: {} of {}, hidden size {}, feed-forward {}, {} positions, {} words",
                     counted(bert.num_hidden_layers, "layer"), counted(bert.num_attention_heads, "head"),
                     bert.hidden_size, bert.intermediate_size, bert.max_position_embeddings, bert.vocab_size);
}

Listing list(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path))
    return list_safetensors(io::SafeTensors::open_model(path), describe_model(path));
  if (!std::filesystem::exists(path)) throw Error(path.string(), "", "no such file or folder");
  const std::string extension = path.extension().string();
  if (extension == ".npy") {
    return {.what = "NumPy array", .tensors = {{path.stem().string(), info_of(io::read_npy(path))}}};
  }
  if (extension == ".npz") {
    Listing listing{.what = "NumPy archive"};
    for (const auto& [name, tensor] : io::read_npz(path)) listing.tensors.emplace(name, info_of(tensor));
    return listing;
  }
  if (extension == ".json") return list_safetensors(io::SafeTensors::open_sharded(path), "safetensors, several files");
  if (extension == ".safetensors") return list_safetensors(io::SafeTensors::open(path), "safetensors");
  throw Error(path.string(), "", "expected a model folder, or a .safetensors, .npy or .npz file");
}

std::int64_t elements_of(const io::TensorInfo& info) {
  std::int64_t n = 1;
  for (const std::ptrdiff_t extent : info.shape) n *= extent;
  return n;
}

std::string size_text(std::int64_t bytes) {
  if (bytes < 100'000) return fmt::format("{} bytes", bytes);
  return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

nlohmann::json json_of(const Listing& listing) {
  nlohmann::json json{{"what", listing.what}, {"metadata", listing.metadata}, {"tensors", nlohmann::json::object()}};
  for (const auto& [name, info] : listing.tensors) {
    json["tensors"][name] = {{"dtype", std::string(dtype_text(info))}, {"shape", info.shape}};
  }
  return json;
}

void info(const InfoCommand& command) {
  const Listing listing = list(command.path);
  if (command.common.json) return print_json(json_of(listing));
  std::size_t width = 4;
  std::int64_t elements = 0, bytes = 0;
  for (const auto& [name, info] : listing.tensors) {
    width = std::max(width, printable(name).size());
    elements += elements_of(info);
    bytes += static_cast<std::int64_t>(info.bytes);
  }
  fmt::print("{}\n{}, {}, {}\n", listing.what, counted(static_cast<std::ptrdiff_t>(listing.tensors.size()), "tensor"),
             counted(elements, "number"), size_text(bytes));
  for (const auto& [key, value] : listing.metadata) fmt::print("{}: {}\n", printable(key), printable(value));
  fmt::print("\n");
  for (const auto& [name, info] : listing.tensors) {
    fmt::print("{:<{}}  {:<7}  ({})\n", printable(name), width, dtype_text(info), joined(info.shape, ", "));
  }
}

}  // namespace

void add_info(CLI::App& app) {
  auto command = std::make_shared<InfoCommand>();
  CLI::App* verb = app.add_subcommand("info", "What a model folder or a tensor file holds");
  verb->add_option("path", command->path, "A model folder, or a .safetensors, .npy or .npz file")
      ->required()
      ->check(not_empty())
      ->option_text("PATH");
  add_common_options(*verb, command->common, "attn info examples/qkv.safetensors", "from the project's folder");
  verb->callback([command] { info(*command); });
}

}  // namespace attn::app
