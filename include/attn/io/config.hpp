// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/export.hpp>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace attn::io {

// A read-only JSON object of settings, as config.json and sentence_bert_config.json hold. Every error is an
// attn::Error which names the file and the key, as in
// `config.json: "hidden_size": missing, expected an integer`. A key whose value is null counts as absent.
class ATTN_API Config {
 public:
  // Reads a file. Throws when it cannot be read, and whatever parse throws.
  static Config load(const std::filesystem::path& file);

  // `name` stands in messages in place of a file. Throws when the text is not one JSON object in UTF-8, nests deeper
  // than 100 levels, or gives a key twice in one object (readers differ on which one counts).
  static Config parse(std::string_view text, std::string_view name);

  // What stands in messages: the path as given to load, or the name given to parse.
  const std::string& name() const noexcept;

  bool has(std::string_view key) const;

  // The value, of exactly that type; an integer also counts as a double. Throws when absent or of another type.
  template <class T>
  T get(std::string_view key) const {
    return read(key, static_cast<const T*>(nullptr));
  }

  // As get, but `fallback` when absent. A value of another type is an error all the same.
  template <class T>
  T get_or(std::string_view key, T fallback) const {
    return has(key) ? get<T>(key) : std::move(fallback);
  }

  // An integer that must be `minimum` or more, such as a size; when absent it is `fallback`, or an error without one.
  std::int64_t get_at_least(std::string_view key, std::int64_t minimum,
                            std::optional<std::int64_t> fallback = {}) const;

 private:
  struct Object;
  explicit Config(std::shared_ptr<const Object> object);

  // The pointer, always null, only chooses the type: members cannot be overloaded on what they return.
  std::int64_t read(std::string_view key, const std::int64_t*) const;
  double read(std::string_view key, const double*) const;
  bool read(std::string_view key, const bool*) const;
  std::string read(std::string_view key, const std::string*) const;

  std::shared_ptr<const Object> object_;
};

}  // namespace attn::io
