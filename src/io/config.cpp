// SPDX-License-Identifier: Apache-2.0
#include <attn/error.hpp>
#include <attn/io/config.hpp>

#include "io/json.hpp"
#include "io/json_field.hpp"
#include "io/mapped_file.hpp"

namespace attn::io {

struct Config::Object {
  std::string name;
  Json value;

  JsonField field() const { return JsonField(value, name); }
};

Config::Config(std::shared_ptr<const Object> object) : object_(std::move(object)) {}

Config Config::load(const std::filesystem::path& file) { return parse(as_text(map_file(file)), file.string()); }

Config Config::parse(std::string_view text, std::string_view name) {
  auto object = std::make_shared<Object>();
  object->name = name;
  object->value = parse_json(name, {}, text);
  object->field().object();
  return Config(std::move(object));
}

const std::string& Config::name() const noexcept { return object_->name; }

bool Config::has(std::string_view key) const { return object_->field().find(key).has_value(); }

std::int64_t Config::get_at_least(std::string_view key, std::int64_t minimum,
                                  std::optional<std::int64_t> fallback) const {
  if (fallback && !has(key)) return *fallback;
  return object_->field().at(key, "an integer").integer(minimum);
}

std::int64_t Config::read(std::string_view key, const std::int64_t*) const {
  return object_->field().at(key, "an integer").integer();
}

double Config::read(std::string_view key, const double*) const { return object_->field().at(key, "a number").number(); }

bool Config::read(std::string_view key, const bool*) const {
  return object_->field().at(key, "true or false").boolean();
}

std::string Config::read(std::string_view key, const std::string*) const {
  return object_->field().at(key, "a string").string();
}

}  // namespace attn::io
