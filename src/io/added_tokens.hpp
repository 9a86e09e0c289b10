// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "io/characters.hpp"
#include "io/json_field.hpp"
#include "io/normalizer.hpp"

namespace attn::io {

// "added_tokens" of tokenizer.json: tokens that are cut out of a text before the model sees the rest, even inside
// words.
struct AddedToken {
  std::string content;
  std::int32_t id = 0;
  bool single_word = false;  // only where no word character touches it
  bool lstrip = false;       // takes the white space before it along
  bool rstrip = false;       // and that after it
  bool normalized = false;   // looked for in the normalised text, in its own normalised form
};

std::vector<AddedToken> read_added_tokens(const JsonField& field);

// Finds those of one kind. Matching is leftmost-longest, without overlaps.
class AddedTokenFinder {
 public:
  struct Piece {
    std::size_t begin, end;   // characters of the text
    const AddedToken* token;  // null: a stretch without added tokens
  };

  // Takes those of `tokens` (which must outlive this) whose `normalized` is as said; `normalizer` is applied to them.
  AddedTokenFinder(const std::vector<AddedToken>& tokens, bool normalized, const Normalizer& normalizer);

  // The pieces of a text in order; they cover it, and none is empty.
  std::vector<Piece> split(const Characters& text) const;

 private:
  struct Pattern {
    std::u32string content;
    const AddedToken* token;
  };

  const Pattern* match(const Characters& text, std::size_t at) const;

  std::unordered_map<char32_t, std::vector<Pattern>> patterns_;  // by the first character; longest first
  std::array<bool, 256> begins_{};  // whether any begins with a character of this low byte: most texts ask in vain
};

}  // namespace attn::io
