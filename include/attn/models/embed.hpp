// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/models/bert.hpp>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace attn::models {
inline namespace ATTN_ABI {

struct EmbedOptions {
  // Tokens that go through the model at a time; a longer text goes alone. More takes memory, fewer share the reading
  // of the weights among fewer tokens. Results do not depend on it.
  std::ptrdiff_t batch_tokens = 2048;
  // Called after each batch with the number of texts done and of all texts, on the calling thread.
  std::function<void(std::size_t done, std::size_t total)> progress = {};
};

struct Embeddings {
  Tensor values = {};                              // f32, (texts, E); each row has length 1 (L2)
  std::vector<std::size_t> cut = {};               // texts that were longer than max_seq_length(), in order
  std::vector<std::size_t> replaced_invalid = {};  // texts in which bytes that are not UTF-8 were read as U+FFFD
};

}  // namespace ATTN_ABI

// Sentence embeddings: row i is text i, its last hidden state pooled as the model's folder says (the mean over its
// tokens unless it says otherwise) and divided by its L2 norm. An empty text is [CLS] [SEP], and has a row like any
// other. A row's bits depend on its text alone. Throws Error when the model has no tokenizer, or wants a pooling that
// is not one of Pooling.
ATTN_API Embeddings embed(const BertModel& model, std::span<const std::string> texts, const EmbedOptions& options = {},
                          Context& context = default_context());

// The pooling alone: rows of `hidden`, f32 (tokens, E) as BertModel::forward gives them, to f32 (texts, E). Sums are
// f64 in the order of the tokens. A text without tokens gives 0.
ATTN_API Tensor pool(In<2> hidden, const TokenBatch& batch, Pooling pooling, Context& context = default_context());

}  // namespace attn::models
