// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/nn/multi_head_attention.hpp>
#include <attn/nn/norm.hpp>

namespace attn::nn {
inline namespace ATTN_ABI {

// The arguments of PyTorch's nn.TransformerEncoderLayer, under its names.
struct EncoderLayerShape {
  std::ptrdiff_t d_model = 0;             // E, a multiple of nhead
  std::ptrdiff_t nhead = 1;               // heads of the attention
  std::ptrdiff_t dim_feedforward = 2048;  // width between the two projections of the feed-forward part
  double dropout_p = 0;                   // in training; inference leaves it alone
  Activation activation = Activation::relu;
  double layer_norm_eps = 1e-5;
  bool norm_first = false;  // norms before each part, rather than after its residual
  bool bias = true;         // whether projections and norms have one
  Layout layout = Layout::batch_first;
};

struct EncoderLayerOptions {
  Input src_mask = {};              // as MhaOptions::attn_mask: true hides
  Input src_key_padding_mask = {};  // as MhaOptions::key_padding_mask: true hides
  bool is_causal = false;           // as MhaOptions::is_causal
  AttentionOptions attention = {};  // everything else that attention can do
  // With gradients only: where the keys of dropout_p come from. Null: nothing drops out, which is evaluation.
  DropoutStream* dropout = nullptr;
};

}  // namespace ATTN_ABI

// A layer of the Transformer's encoder (Vaswani et al. 2017, 3.1): PyTorch's nn.TransformerEncoderLayer with its names
// of parameters. After the residuals: x = norm1(x + attention(x)), x = norm2(x + feed_forward(x)); before (norm_first;
// Xiong et al. 2020): x = x + attention(norm1(x)), x = x + feed_forward(norm2(x)).
class ATTN_API TransformerEncoderLayer {
 public:
  TransformerEncoderLayer() = default;
  // Throws Error for sizes that do not fit each other.
  explicit TransformerEncoderLayer(const EncoderLayerShape& shape);

  // "self_attn." as MultiHeadAttention; "linear1.", "linear2.", "norm1.", "norm2." with "weight" and "bias".
  void load(const StateDict& state, const std::string& prefix = {}, Context& context = default_context());
  void read(StateReader& reader);

  // x (batch, tokens, E) in the layout of the shape, or (tokens, E), to the same shape. On one processor a token's bits
  // depend on the tokens of its sequence that it may see, never on padding, the rest of the batch or the number of
  // threads. Throws Error naming the argument.
  Tensor operator()(Input x, const EncoderLayerOptions& options = {}, Context& context = default_context()) const;

  // The same with gradients. dropout_p applies, as in PyTorch's layer, to the weights of attention, to each part's
  // result before its residual is added, and to what is between the two projections.
  Variable operator()(const Variable& x, const EncoderLayerOptions& options = {},
                      Context& context = default_context()) const;
  void visit(ParameterVisitor& visitor);

  const EncoderLayerShape& shape() const { return shape_; }

 private:
  // The layers in this one under their names, to whoever reads or visits them.
  template <class To>
  void give_parts(To& to);
  // `norm` comes after the residual, in the same pass; null: none.
  Tensor attend(const Input& x, const Input& residual, const LayerNorm* norm, const EncoderLayerOptions& options,
                Context& context) const;
  Tensor feed_forward(const Input& x, const Input& residual, const LayerNorm* norm, Context& context) const;
  Variable attend(const Variable& x, const EncoderLayerOptions& options, Context& context) const;
  Variable feed_forward(const Variable& x, const EncoderLayerOptions& options, Context& context) const;

  EncoderLayerShape shape_;
  MultiHeadAttention self_attn_;
  Linear linear1_, linear2_;
  LayerNorm norm1_, norm2_;
};

}  // namespace attn::nn
