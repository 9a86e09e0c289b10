// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/models/token_embedding.hpp>
#include <attn/models/transformer_stack.hpp>
#include <attn/nn/linear.hpp>
#include <vector>

namespace attn::models {
inline namespace ATTN_ABI {

struct TextEncoderShape {
  // Rows of each table of tokens: what is known of a token (itself, its first character, its neighbour) has a table
  // each, and their rows are added.
  std::vector<std::ptrdiff_t> vocabularies = {};
  std::ptrdiff_t max_tokens = 128;  // of a text, one row of positions each
  std::ptrdiff_t classes = 2;       // of a text, or of a token
  TransformerShape transformer = {};
};

// Texts of one batch, filled up to one width.
struct TextBatch {
  std::vector<Tensor> ids = {};            // (batch, tokens) i32, one a table
  std::vector<std::int32_t> lengths = {};  // tokens of each text; what stands beyond is not looked at
};

}  // namespace ATTN_ABI

// An encoder as BERT's (Devlin et al. 2019), with a classifier of each token or of the mean of a text's tokens.
class ATTN_API TextEncoder {
 public:
  // Throws Error for sizes that do not fit each other. Needs nn::initialise or nn::load_parameters before its use.
  explicit TextEncoder(const TextEncoderShape& shape);

  // (batch, tokens, width): the last layer. Without a stream nothing drops out, which is evaluation. Throws Error for
  // another number of tables or texts, for ids outside their table, and for more tokens than max_tokens.
  nn::Variable encode(const TextBatch& batch, nn::DropoutStream* dropout = nullptr,
                      Context& context = default_context()) const;
  // Logits (batch, classes), from the mean over a text's tokens.
  nn::Variable classify_texts(const TextBatch& batch, nn::DropoutStream* dropout = nullptr,
                              Context& context = default_context()) const;
  // Logits (batch, tokens, classes).
  nn::Variable classify_tokens(const TextBatch& batch, nn::DropoutStream* dropout = nullptr,
                               Context& context = default_context()) const;

  // "embeddings.tokens.weight", "embeddings.positions.weight", tables after the first "tables.1.weight" ..., "norm.",
  // "encoder.layers.0." and so on, "classifier.".
  void visit(nn::ParameterVisitor& visitor);
  const TextEncoderShape& shape() const noexcept { return shape_; }

 private:
  TextEncoderShape shape_;
  TokenEmbedding embeddings_;
  std::vector<nn::Variable> tables_;
  nn::LayerNorm norm_;
  EncoderStack encoder_;
  nn::Linear classifier_;
};

}  // namespace attn::models
