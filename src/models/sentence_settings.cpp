// SPDX-License-Identifier: Apache-2.0
#include <attn/error.hpp>
#include <attn/models/sentence_settings.hpp>
#include <limits>

#include "base/concat.hpp"
#include "io/json.hpp"
#include "io/json_field.hpp"
#include "io/mapped_file.hpp"

namespace attn::models {
namespace {

using base::concat;
namespace fs = std::filesystem;

// Calls `read` with the parsed file; does nothing where there is none.
template <class Read>
void read_json(const fs::path& file, const Read& read) {
  if (!fs::exists(file)) return;
  const std::string name = file.string();
  const io::Json value = io::parse_json(name, {}, io::as_text(io::map_file(file)));
  read(io::JsonField(value, name));
}

// What a pooling module turns on: "mean", "cls", or others' names.
std::string pooling_mode(const io::JsonField& config) {
  if (const auto mode = config.find("pooling_mode")) return mode->string();
  constexpr std::string_view kPrefix = "pooling_mode_";
  std::string modes;
  for (const auto& [key, value] : config.object().items()) {
    if (!std::string_view(key).starts_with(kPrefix) || !config.at(key, "true or false").boolean()) continue;
    const std::string mode = key.substr(kPrefix.size());
    modes += modes.empty() ? mode : concat(" and ", mode);
  }
  if (modes == "mean_tokens") return "mean";
  if (modes == "cls_token") return "cls";
  return modes.empty() ? "nothing" : modes;
}

void read_pooling(const io::JsonField& config, SentenceSettings& settings) {
  const std::string mode = pooling_mode(config);
  if (mode == "cls") settings.pooling = Pooling::cls;
  if (mode != "cls" && mode != "mean") {
    settings.refused = concat(config.file(), ": pooling by ", io::quote(mode), ", expected \"mean\" or \"cls\"");
  }
}

// One entry of modules.json. Types are names of Python classes, whose packages have changed over the years.
void read_module(const io::JsonField& module, const fs::path& folder, SentenceSettings& settings) {
  const std::string type = module.at("type", "a string").string();
  const std::string kind = type.substr(type.find_last_of('.') + 1);
  if (kind == "Transformer" || kind == "Normalize") return;
  if (kind != "Pooling") {
    settings.refused =
        concat(module.file(), ": module ", io::quote(kind), ", expected \"Transformer\", \"Pooling\" or \"Normalize\"");
    return;
  }
  const fs::path path = fs::path(module.at("path", "a string").string()).lexically_normal();
  if (path.empty() || path.is_absolute() || *path.begin() == "..") {
    module.at("path", "a string").fail(concat(io::quote(path.string()), ", expected a folder inside the model's"));
  }
  read_json(folder / path / "config.json", [&](const io::JsonField& config) { read_pooling(config, settings); });
}

}  // namespace

SentenceSettings read_sentence_settings(const fs::path& folder) {
  SentenceSettings settings;
  read_json(folder / "sentence_bert_config.json", [&](const io::JsonField& config) {
    constexpr std::int64_t kMaximum = std::numeric_limits<std::int32_t>::max();
    if (const auto length = config.find("max_seq_length")) settings.max_seq_length = length->integer(1, kMaximum);
  });
  read_json(folder / "modules.json", [&](const io::JsonField& modules) {
    for (std::size_t i = 0; i < modules.array().size(); ++i) read_module(modules.element(i), folder, settings);
  });
  return settings;
}

}  // namespace attn::models
