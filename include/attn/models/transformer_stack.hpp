// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/nn/decoder_layer.hpp>
#include <attn/nn/encoder_layer.hpp>
#include <attn/version.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace attn::models {

// Where a layer norms (Xiong et al. 2020, "On layer normalization in the transformer architecture").
enum class NormPlace : std::uint8_t {
  before,  // each part, with one more norm after the last layer; trains without a long warm-up
  after,   // each residual, as BERT does
};

inline namespace ATTN_ABI {

struct TransformerShape {
  std::ptrdiff_t width = 128;        // features of a token, a multiple of heads
  std::ptrdiff_t layers = 3;         // one after the other
  std::ptrdiff_t heads = 4;          // of every attention
  std::ptrdiff_t feedforward = 256;  // width between the two projections
  double dropout = 0;                // of embeddings, attention weights and parts, in training
  NormPlace norm = NormPlace::before;
  // What layers compute with and keep for their gradients, whatever the dtype of their parameters: bf16 or f16 take
  // half of the memory. none: the dtype of what comes in, which is also the dtype of what goes out.
  DType activations = DType::none;
};

}  // namespace ATTN_ABI

// Layers one after the other, with GELU: "layers.0.", "layers.1.", ..., and "norm." with NormPlace::before.
class ATTN_API EncoderStack {
 public:
  EncoderStack() = default;
  // Throws Error for sizes that do not fit each other.
  explicit EncoderStack(const TransformerShape& shape);
  // x (batch, tokens, width) to the same shape.
  nn::Variable operator()(nn::Variable x, const nn::EncoderLayerOptions& options,
                          Context& context = default_context()) const;
  void visit(nn::ParameterVisitor& visitor);

 private:
  std::vector<nn::TransformerEncoderLayer> layers_;
  nn::LayerNorm norm_;
  bool ends_with_norm_ = false;
  DType activations_ = DType::none;
};

// The same of decoder layers, which look at a memory besides.
class ATTN_API DecoderStack {
 public:
  DecoderStack() = default;
  // Throws Error for sizes that do not fit each other.
  explicit DecoderStack(const TransformerShape& shape);
  // x (batch, tokens, width) and memory (batch, memory tokens, width) to x's shape.
  nn::Variable operator()(nn::Variable x, const nn::Variable& memory, const nn::DecoderLayerOptions& options,
                          Context& context = default_context()) const;
  void visit(nn::ParameterVisitor& visitor);

 private:
  std::vector<nn::TransformerDecoderLayer> layers_;
  nn::LayerNorm norm_;
  bool ends_with_norm_ = false;
  DType activations_ = DType::none;
};

}  // namespace attn::models
