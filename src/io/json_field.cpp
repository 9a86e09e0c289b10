// SPDX-License-Identifier: Apache-2.0
#include "io/json_field.hpp"

#include <attn/error.hpp>

#include "base/concat.hpp"
#include "io/json.hpp"

namespace attn::io {
namespace {

std::string_view type_text(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "an array";
    case Json::value_t::string:
      return "a string";
    case Json::value_t::boolean:
      return "a boolean";
    case Json::value_t::number_float:
      return "a number with a fraction or exponent";
    default:
      return "an integer";
  }
}

}  // namespace

std::optional<JsonField> JsonField::find(std::string_view key) const {
  const Json& members = object();
  const auto found = members.find(key);
  if (found == members.end() || found->is_null()) return std::nullopt;
  return JsonField(*found, file_, path_.empty() ? std::string(key) : base::concat(path_, '.', key));
}

JsonField JsonField::at(std::string_view key, std::string_view expected) const {
  if (auto field = find(key)) return *std::move(field);
  const std::string path = path_.empty() ? std::string(key) : base::concat(path_, '.', key);
  throw Error(file_, quote(path), base::concat("missing, expected ", expected));
}

JsonField JsonField::element(std::size_t index) const {
  return JsonField(array().at(index), file_, base::concat(path_, '[', index, ']'));
}

const std::string& JsonField::string() const {
  if (!value_->is_string()) fail_type("a string");
  return value_->get_ref<const std::string&>();
}

bool JsonField::boolean() const {
  if (!value_->is_boolean()) fail_type("true or false");
  return value_->get<bool>();
}

double JsonField::number() const {
  if (!value_->is_number()) fail_type("a number");
  return value_->get<double>();
}

std::int64_t JsonField::integer(std::int64_t minimum, std::int64_t maximum) const {
  if (!value_->is_number_integer()) fail_type("an integer");
  const bool huge = value_->is_number_unsigned() && value_->get<std::uint64_t>() > std::uint64_t{INT64_MAX};
  if (huge || value_->get<std::int64_t>() > maximum)
    fail(base::concat(text_of(*value_), ", expected at most ", maximum));
  const auto integer = value_->get<std::int64_t>();
  if (integer < minimum) fail(base::concat(integer, ", expected at least ", minimum));
  return integer;
}

const Json& JsonField::array() const {
  if (!value_->is_array()) fail_type("an array");
  return *value_;
}

const Json& JsonField::object() const {
  if (!value_->is_object()) fail_type("an object");
  return *value_;
}

void JsonField::fail(std::string_view what) const {
  throw Error(file_, path_.empty() ? std::string() : quote(path_), what);
}

void JsonField::fail_type(std::string_view expected) const {
  fail(base::concat("found ", type_text(*value_), ", expected ", expected));
}

}  // namespace attn::io
