// SPDX-License-Identifier: Apache-2.0
// How the three streams of a text encoder become the two numbers of a token that BERT has: the id, and the token type.
#pragma once

#include <attn/tensor.hpp>
#include <string>

#include "io/json.hpp"
#include "train/streams.hpp"

namespace attn::train {

// Which stream is what. The first stream of `id` tells the second: the pair of a character and the one before it tells
// the character, and a word its first character. So one row can hold the sum of both.
struct HubStreams {
  explicit HubStreams(TokenKind kind);
  std::size_t whole, part, type;
  TokenKind kind;
};

// tokenizer.json
nlohmann::json hub_tokenizer(const HubStreams& streams, const std::vector<Vocabulary>& vocabularies);

// The table of words, (ids, width) f32: for each known whole its row and that of its part, and for each part its row
// and that of the unknown whole. `whole` and `part` are the tables of those streams.
Tensor hub_words(const HubStreams& streams, const std::vector<Vocabulary>& vocabularies, const Tensor& whole,
                 const Tensor& part);

}  // namespace attn::train
