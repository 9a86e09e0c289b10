// SPDX-License-Identifier: Apache-2.0
#include <attn/nn/decoder_layer.hpp>

namespace attn::nn {

TransformerDecoderLayer::TransformerDecoderLayer(const EncoderLayerShape& shape)
    : shape_(shape),
      self_attn_({.embed_dim = shape.d_model,
                  .num_heads = shape.nhead,
                  .dropout_p = shape.dropout_p,
                  .bias = shape.bias,
                  .layout = shape.layout}),
      multihead_attn_(self_attn_),
      linear1_({.in_features = shape.d_model, .out_features = shape.dim_feedforward, .bias = shape.bias}),
      linear2_({.in_features = shape.dim_feedforward, .out_features = shape.d_model, .bias = shape.bias}),
      norm1_({.features = shape.d_model, .eps = shape.layer_norm_eps, .bias = shape.bias}),
      norm2_(norm1_),
      norm3_(norm1_) {}

void TransformerDecoderLayer::load(const StateDict& state, const std::string& prefix, Context& context) {
  load_state(*this, state, prefix, context);
}

void TransformerDecoderLayer::read(StateReader& reader) {
  const auto read = [&](auto& layer, const char* prefix) {
    StateReader inner = reader.within(prefix);
    layer.read(inner);
  };
  read(self_attn_, "self_attn.");
  read(multihead_attn_, "multihead_attn.");
  read(linear1_, "linear1.");
  read(linear2_, "linear2.");
  read(norm1_, "norm1.");
  read(norm2_, "norm2.");
  read(norm3_, "norm3.");
}

Tensor TransformerDecoderLayer::operator()(Input x, Input memory, const DecoderLayerOptions& options,
                                           Context& context) const {
  const auto attend_self = [&](const Input& q, const Input& residual) {
    const MhaOptions mha{.key_padding_mask = options.tgt_key_padding_mask,
                         .attn_mask = options.tgt_mask,
                         .is_causal = options.tgt_is_causal,
                         .residual = residual};
    return self_attn_(q, q, q, mha, context).y;
  };
  const auto attend_memory = [&](const Input& q, const Input& residual) {
    const MhaOptions mha{
        .key_padding_mask = options.memory_key_padding_mask, .attn_mask = options.memory_mask, .residual = residual};
    return multihead_attn_(q, memory, memory, mha, context).y;
  };
  const auto feed_forward = [&](const Input& z, const Input& residual) {
    const Tensor inner = linear1_(z, {.activation = shape_.activation}, context);
    return linear2_(inner, {.residual = residual}, context);
  };
  if (shape_.norm_first) {
    const Tensor a = attend_self(norm1_(x, context), x);
    const Tensor b = attend_memory(norm2_(a, context), a);
    return feed_forward(norm3_(b, context), b);
  }
  const Tensor a = norm1_(attend_self(x, x), context);
  const Tensor b = norm2_(attend_memory(a, a), context);
  return norm3_(feed_forward(b, b), context);
}

}  // namespace attn::nn
