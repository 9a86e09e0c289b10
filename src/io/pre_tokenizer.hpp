// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "io/characters.hpp"
#include "io/json_field.hpp"

namespace attn::io {

// Characters [begin, end) of a normalised text.
struct Word {
  std::size_t begin, end;
};

// The second stage of a tokenizer: cuts a normalised text into words, of which the model sees one at a time.
class PreTokenizer {
 public:
  PreTokenizer() = default;  // the whole text is one word

  // From "pre_tokenizer" of tokenizer.json. Throws attn::Error on a type that is not known.
  explicit PreTokenizer(const JsonField& field);

  // Replaces `words` by the words of text[begin, end), none of them empty.
  void split(const Characters& text, std::size_t begin, std::size_t end, std::vector<Word>& words) const;

 private:
  // bert: at white space, and every punctuation mark by itself; whitespace: runs of word characters and runs of others.
  enum class Kind { whole, bert, whitespace, whitespace_split };
  Kind kind_ = Kind::whole;
};

}  // namespace attn::io
