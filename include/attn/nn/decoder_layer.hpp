// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/nn/encoder_layer.hpp>

namespace attn::nn {
inline namespace ATTN_ABI {

struct DecoderLayerOptions {
  Input tgt_mask = {};                 // of the self-attention, as MhaOptions::attn_mask: true hides
  Input tgt_key_padding_mask = {};     // as MhaOptions::key_padding_mask
  bool tgt_is_causal = false;          // as MhaOptions::is_causal
  Input memory_mask = {};              // of the attention to the memory
  Input memory_key_padding_mask = {};  // of the memory
  // With gradients only: where the keys of dropout_p come from. Null: nothing drops out, which is evaluation.
  DropoutStream* dropout = nullptr;
};

}  // namespace ATTN_ABI

// A layer of the Transformer's decoder (Vaswani et al. 2017, 3.1): PyTorch's nn.TransformerDecoderLayer with its names
// of parameters. Self-attention, attention to the encoder's memory, feed-forward; each with a residual and a norm after
// it, or before it (norm_first). The shape is that of the encoder's layer.
class ATTN_API TransformerDecoderLayer {
 public:
  TransformerDecoderLayer() = default;
  // Throws Error for sizes that do not fit each other.
  explicit TransformerDecoderLayer(const EncoderLayerShape& shape);

  // "self_attn.", "multihead_attn." as MultiHeadAttention; "linear1.", "linear2.", "norm1.", "norm2.", "norm3." with
  // "weight" and "bias".
  void load(const StateDict& state, const std::string& prefix = {}, Context& context = default_context());
  void read(StateReader& reader);

  // x (batch, tokens, E) and memory (batch, memory tokens, E) in the layout of the shape, or both without batch, to x's
  // shape. Throws Error naming the argument.
  Tensor operator()(Input x, Input memory, const DecoderLayerOptions& options = {},
                    Context& context = default_context()) const;

  // The same with gradients; dropout_p applies as in TransformerEncoderLayer.
  Variable operator()(const Variable& x, const Variable& memory, const DecoderLayerOptions& options = {},
                      Context& context = default_context()) const;
  void visit(ParameterVisitor& visitor);

  const EncoderLayerShape& shape() const { return shape_; }

 private:
  // The layers in this one under their names, to whoever reads or visits them.
  template <class To>
  void give_parts(To& to);
  EncoderLayerShape shape_;
  MultiHeadAttention self_attn_, multihead_attn_;
  Linear linear1_, linear2_;
  LayerNorm norm1_, norm2_, norm3_;
};

}  // namespace attn::nn
