// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <unordered_map>

#include "io/token_model.hpp"

namespace attn::io {

// The tokens of the text encoders that attn trains, which have two numbers each: an id, and a type that adds a second
// row to its embedding. In a text of characters, a token is a character (a space is written "_"); its id tells it
// together with the one before it, its type together with the one after it, and "_" stands for what is beyond the text.
// In a text of words, which spaces divide, the id tells the word and the type its last character.
//
// "vocab" names the ids; an id that is not in it is looked up in "fallback", whose ids follow, by the character alone,
// or by the first character of the word. "types" names the types. Each begins with the same special tokens, of which
// the second is the unknown one; no text gives the others.
class ContextTokens final : public TokenModel {
 public:
  static constexpr std::string_view kType = "AttnContext";

  // Throws attn::Error for a unit other than "characters" and "words", and for lists that are none.
  explicit ContextTokens(const JsonField& field);
  ContextTokens(const ContextTokens&) = delete;  // the maps refer to names_
  ContextTokens& operator=(const ContextTokens&) = delete;

  // One token for each unit of the text.
  void tokenize(const Characters& text, Word word, std::string& buffer, std::vector<Token>& tokens) const override;
  std::optional<std::int32_t> find(std::string_view name) const override;
  std::optional<std::string_view> find(std::int32_t id) const override;
  std::size_t size() const noexcept override { return vocabulary_.names.size() + fallback_.names.size(); }
  std::int32_t largest_id() const noexcept override { return static_cast<std::int32_t>(size()) - 1; }

 private:
  static constexpr std::int32_t kUnknown = 1, kSpecial = 4;

  struct Names {
    std::deque<std::string> names;
    std::unordered_map<std::string_view, std::int32_t> numbers;
    std::optional<std::int32_t> find(std::string_view name) const;
  };
  static Names read_names(const JsonField& field, std::size_t special);
  // The number and the name of a token known as `whole`, or as `part` at least.
  std::pair<std::int32_t, std::string_view> lookup(std::string_view whole, std::string_view part) const;
  void tokenize_characters(const Characters& text, Word word, std::vector<Token>& tokens) const;
  void tokenize_words(const Characters& text, Word word, std::vector<Token>& tokens) const;

  bool is_words_ = false;
  Names vocabulary_, fallback_, types_;  // the first and the last without their special tokens in `numbers`
};

}  // namespace attn::io
