// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/models/bert.hpp>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace attn::inspect {
inline namespace ATTN_ABI {

struct RecordOptions {
  std::vector<std::ptrdiff_t> layers = {};        // from 0, in any order; all when empty
  std::vector<std::ptrdiff_t> heads = {};         // from 0, in any order, of every layer; all when empty
  std::optional<std::string_view> pair = {};      // a second text
  std::optional<std::ptrdiff_t> max_tokens = {};  // longer texts are cut; as many as the model takes when absent
};

// What one text did in a model.
struct Record {
  io::Encoding encoding = {};               // its tokens, and where they stand in the text
  std::vector<std::ptrdiff_t> layers = {};  // recorded layers, ascending
  std::vector<std::ptrdiff_t> heads = {};   // recorded heads, ascending
  std::vector<Tensor> weights = {};         // one a recorded layer: f32, (recorded heads, L, L), rows = queries
  Tensor last_hidden = {};                  // f32, (L, E)
  models::BertConfig config = {};           // of the model, with the numbers of all its layers and heads
};

}  // namespace ATTN_ABI

// Runs the model on a text and records the attention weights of chosen layers and heads. The model runs as it always
// does, same bits; an observer of the context sees each call's q and k, and has `attention` compute the weights of the
// chosen heads from them once more. An observer that the context already has is put back afterwards. Memory: the
// record. Throws Error for a layer or head that the model lacks, and what the tokenizer and the model throw.
ATTN_API Record record(const models::BertModel& model, std::string_view text, const RecordOptions& options = {},
                       Context& context = default_context());
// The same for tokens; `pair` and `max_tokens` are not used.
ATTN_API Record record(const models::BertModel& model, const io::Encoding& encoding, const RecordOptions& options = {},
                       Context& context = default_context());

}  // namespace attn::inspect
