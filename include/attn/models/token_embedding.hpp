// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/nn/parameters.hpp>
#include <cstddef>

namespace attn::models {

inline namespace ATTN_ABI {

struct TokenEmbeddingShape {
  std::ptrdiff_t vocabulary = 0;
  std::ptrdiff_t max_tokens = 128;  // of a text
  std::ptrdiff_t width = 128;
};

}  // namespace ATTN_ABI

// What a text model begins with: a table of tokens, "tokens.weight", and one of positions, "positions.weight". Both
// start from normal numbers of deviation 0.02, as GPT-2's, so that the table can tell the next token too.
class ATTN_API TokenEmbedding {
 public:
  TokenEmbedding() = default;
  explicit TokenEmbedding(const TokenEmbeddingShape& shape) : shape_(shape) {}

  // ids (batch, tokens) i32 or i64 to (batch, tokens, width). Throws Error for an id outside the table, and for more
  // tokens than max_tokens.
  nn::Variable operator()(const Tensor& ids, Context& context = default_context()) const;
  const nn::Variable& table() const { return tokens_; }
  void visit(nn::ParameterVisitor& visitor);

 private:
  TokenEmbeddingShape shape_;
  nn::Variable tokens_, positions_;
};

}  // namespace attn::models
