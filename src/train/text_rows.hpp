// SPDX-License-Identifier: Apache-2.0
// Texts as TextEncoder takes them, for the tasks that classify texts or their tokens.
#pragma once

#include <array>
#include <attn/models/text_encoder.hpp>
#include <attn/train/task.hpp>

#include "train/streams.hpp"

namespace attn::train {

// One text: its ids in each stream, and its targets, of which classification of the text has one.
struct TextRow {
  std::array<std::vector<std::int32_t>, kStreams> ids;
  std::vector<std::int32_t> targets;
  std::ptrdiff_t tokens() const { return std::ssize(ids[0]); }
};

// The first `max_tokens` tokens of a text; one that has none becomes one unknown token.
TextRow row_of(const std::vector<std::string>& tokens, const Lexicon& lexicon, const Recipe& recipe);

// Where texts that are longer than `max_tokens` are cut: the ends of the parts. After a mark that ends a part of a
// sentence, if there is one in the second half of the part, so that few names are cut in two.
std::vector<std::size_t> cuts_of(const std::vector<std::string>& tokens, std::size_t max_tokens);

std::vector<std::ptrdiff_t> lengths_of(const std::vector<TextRow>& rows);

models::TextBatch batch_of(const std::vector<TextRow>& rows, const Batch& batch);
// The same as training sees it: in each stream, a share `p` of the ids becomes that of an unknown token.
models::TextBatch batch_of(const std::vector<TextRow>& rows, const Batch& batch, double p, nn::DropoutStream* dropout);
// The targets of the batch, filled up with kIgnored: (batch, tokens), or (batch, 1) where each text has one.
Tensor targets_of(const std::vector<TextRow>& rows, const Batch& batch);

models::TextEncoderShape encoder_shape(const Recipe& recipe, const Lexicon& lexicon);

}  // namespace attn::train
