// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace attn::io {

using Json = nlohmann::json;

// A value inside a parsed file that knows where it stands, so that its readers can name file, place and what was
// expected. It refers to the parsed value and must not outlive it.
class JsonField {
 public:
  JsonField(const Json& value, std::string_view file) : value_(&value), file_(file) {}

  std::string_view file() const noexcept { return file_; }

  // A member of this object; `find` gives none where it is absent or null, `at` then throws, saying what was expected.
  std::optional<JsonField> find(std::string_view key) const;
  JsonField at(std::string_view key, std::string_view expected) const;
  JsonField element(std::size_t index) const;

  // The value as that type, or attn::Error.
  const std::string& string() const;
  bool boolean() const;
  double number() const;
  std::int64_t integer(std::int64_t minimum = std::numeric_limits<std::int64_t>::min(),
                       std::int64_t maximum = std::numeric_limits<std::int64_t>::max()) const;
  const Json& array() const;
  const Json& object() const;

  // Throws attn::Error about this value.
  [[noreturn]] void fail(std::string_view what) const;

 private:
  JsonField(const Json& value, std::string_view file, std::string path)
      : value_(&value), file_(file), path_(std::move(path)) {}
  [[noreturn]] void fail_type(std::string_view expected) const;

  const Json* value_;
  std::string_view file_;
  std::string path_;  // "model.vocab", in quotes only when shown
};

}  // namespace attn::io
