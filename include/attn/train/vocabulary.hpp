// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/export.hpp>
#include <attn/version.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn::train {

// What a text is cut into.
enum class TokenKind : std::uint8_t {
  characters,  // of Unicode
  words,       // what spaces divide
  bytes,       // of UTF-8: no text has an unknown one
  pieces,      // of words, by byte pair encoding (Sennrich, Haddow and Birch 2016), on characters
};

inline namespace ATTN_ABI {

struct VocabularyOptions {
  TokenKind kind = TokenKind::characters;
  // Ids at most, the special ones included; the most frequent tokens get one.
  std::ptrdiff_t max_size = 8000;
  // Characters and words that occur less often have no id of their own.
  std::ptrdiff_t min_count = 1;
};

}  // namespace ATTN_ABI

// The tokens of a kind of texts, numbered; learned from the texts of the training part, so that nothing of what is held
// out is in it. A small value type: copies share the table.
class ATTN_API Vocabulary {
 public:
  static constexpr std::int32_t kPadding = 0, kUnknown = 1, kBegin = 2, kEnd = 3, kSpecial = 4;

  // The same texts give the same ids: more frequent ones are lower, and ties go by the bytes. Throws Error for options
  // out of range. Time: one pass over the texts; for pieces, besides, the logarithm of their number for each merge.
  static Vocabulary learn(std::span<const std::string> texts, const VocabularyOptions& options);
  // What to_json gave. `where` stands in messages. Throws Error when it is none.
  static Vocabulary from_json(std::string_view json, std::string_view where);
  std::string to_json() const;

  TokenKind kind() const noexcept;
  std::ptrdiff_t size() const noexcept;

  // Without special ids around it. Ill-formed UTF-8 is read as U+FFFD.
  std::vector<std::int32_t> encode(std::string_view text) const;
  // Words that are cut already: one id each, whatever is in them. For characters and words only.
  std::vector<std::int32_t> encode_tokens(std::span<const std::string> tokens) const;
  // Special ids give nothing, but an unknown one gives U+FFFD. Throws Error for an id that is not in the table.
  std::string decode(std::span<const std::int32_t> ids) const;
  // The token itself, "<pad>" and the like for special ids. Throws Error for an id that is not in the table.
  std::string token(std::int32_t id) const;

 private:
  struct Table;
  explicit Vocabulary(std::shared_ptr<const Table> table);
  std::shared_ptr<const Table> table_;
};

// The number of what `kind` is called in a recipe ("characters"). Throws Error, naming `where`, for any other.
ATTN_API TokenKind token_kind_named(std::string_view name, std::string_view where);

}  // namespace attn::train
