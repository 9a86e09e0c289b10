// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/models/token_embedding.hpp>
#include <attn/models/transformer_stack.hpp>

namespace attn::models {
inline namespace ATTN_ABI {

struct LanguageModelShape {
  std::ptrdiff_t vocabulary = 0;
  std::ptrdiff_t max_tokens = 128;  // of what is seen at once
  TransformerShape transformer = {};
};

}  // namespace ATTN_ABI

// A decoder as GPT-2's (Radford et al. 2019): each token sees itself and those before it, and the next one is told by
// the same table that the tokens were looked up in (Press and Wolf 2017).
class ATTN_API LanguageModel {
 public:
  // Throws Error for sizes that do not fit each other. Needs nn::initialise or nn::load_parameters before its use.
  explicit LanguageModel(const LanguageModelShape& shape);

  // ids (batch, tokens) to logits (batch, tokens, vocabulary) of the token after each. Without a stream nothing drops
  // out, which is evaluation. Throws Error for an id outside the table, and for more tokens than max_tokens.
  nn::Variable operator()(const Tensor& ids, nn::DropoutStream* dropout = nullptr,
                          Context& context = default_context()) const;
  // "embeddings.tokens.weight", "embeddings.positions.weight", "decoder.layers.0." and so on.
  void visit(nn::ParameterVisitor& visitor);

 private:
  LanguageModelShape shape_;
  TokenEmbedding embeddings_;
  EncoderStack decoder_;  // an encoder that sees no token after its own
};

}  // namespace attn::models
