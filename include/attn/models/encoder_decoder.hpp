// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/models/token_embedding.hpp>
#include <attn/models/transformer_stack.hpp>
#include <span>

namespace attn::models {
inline namespace ATTN_ABI {

struct EncoderDecoderShape {
  std::ptrdiff_t vocabulary = 0;    // of source and target together
  std::ptrdiff_t max_tokens = 128;  // of either
  TransformerShape transformer = {};
};

}  // namespace ATTN_ABI

// The transformer of Vaswani et al. 2017: an encoder of the source, and a decoder whose tokens see those before them
// and the whole source. One table serves source, target and the choice of the next token, as in their section 3.4.
class ATTN_API EncoderDecoder {
 public:
  // Throws Error for sizes that do not fit each other. Needs nn::initialise or nn::load_parameters before its use.
  explicit EncoderDecoder(const EncoderDecoderShape& shape);

  // source (batch, tokens), of which the first lengths[b] count, to the memory (batch, tokens, width). Without a stream
  // nothing drops out, which is evaluation. Throws Error for an id outside the table, and for more tokens than
  // max_tokens.
  nn::Variable encode(const Tensor& source, std::span<const std::int32_t> lengths, nn::DropoutStream* dropout = nullptr,
                      Context& context = default_context()) const;
  // target (batch, tokens) to logits (batch, tokens, vocabulary) of the token after each, given what encode made.
  nn::Variable decode(const Tensor& target, const nn::Variable& memory, std::span<const std::int32_t> lengths,
                      nn::DropoutStream* dropout = nullptr, Context& context = default_context()) const;
  // "embeddings.tokens.weight", "embeddings.positions.weight", "encoder.layers.0.", "decoder.layers.0." and so on.
  void visit(nn::ParameterVisitor& visitor);

 private:
  EncoderDecoderShape shape_;
  TokenEmbedding embeddings_;
  EncoderStack encoder_;
  DecoderStack decoder_;
};

}  // namespace attn::models
