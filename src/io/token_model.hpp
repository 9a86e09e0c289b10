// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/characters.hpp"
#include "io/json_field.hpp"
#include "io/pre_tokenizer.hpp"

namespace attn::io {

// A token found in a text. The name is kept by the vocabulary it came from.
struct Token {
  std::int32_t id;
  std::string_view name;
  std::uint32_t begin, end;  // bytes of the original text
  std::int32_t type = 0;     // added to the type of the token's segment
};

// The third stage of a tokenizer: gives tokens to a word.
class TokenModel {
 public:
  virtual ~TokenModel() = default;

  // Appends the tokens of a word. `buffer` is scratch.
  virtual void tokenize(const Characters& text, Word word, std::string& buffer, std::vector<Token>& tokens) const = 0;

  virtual std::optional<std::int32_t> find(std::string_view name) const = 0;
  virtual std::optional<std::string_view> find(std::int32_t id) const = 0;
  virtual std::size_t size() const noexcept = 0;
  virtual std::int32_t largest_id() const noexcept = 0;
};

// From "model" of tokenizer.json. Throws attn::Error on a kind that is not known.
std::unique_ptr<const TokenModel> read_token_model(const JsonField& field);

}  // namespace attn::io
