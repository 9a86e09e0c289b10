// SPDX-License-Identifier: Apache-2.0
// What is known of each token of a text, beside itself: a model has a table for each of these streams, and adds.
#pragma once

#include <array>
#include <attn/train/vocabulary.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace attn::train {

constexpr std::size_t kStreams = 3;

// A text as tokens of that kind, characters or words; a character that is a space becomes "_".
std::vector<std::string> tokens_of(std::string_view text, TokenKind kind);

// Of characters: the character, the pair with the one before it, the pair with the one after it. Of words: the word,
// its first character, its last one, which say much of a word that was never seen.
std::array<std::vector<std::string>, kStreams> streams_of(const std::vector<std::string>& tokens, TokenKind kind);

// A vocabulary for each stream. Throws Error for kinds other than characters and words.
std::vector<Vocabulary> learn_streams(const std::vector<std::vector<std::string>>& texts,
                                      const VocabularyOptions& options);

}  // namespace attn::train
