// SPDX-License-Identifier: Apache-2.0
// TransformerDecoderLayer with gradients.
#include <attn/autograd/elementwise.hpp>
#include <attn/nn/decoder_layer.hpp>

namespace attn::nn {

Variable TransformerDecoderLayer::operator()(const Variable& x, const Variable& memory,
                                             const DecoderLayerOptions& options, Context& context) const {
  const auto drop = [&](const Variable& y) { return dropout(y, shape_.dropout_p, options.dropout, context); };
  const auto attend_self = [&](const Variable& q) {
    const MhaOptions mha{.key_padding_mask = options.tgt_key_padding_mask,
                         .attn_mask = options.tgt_mask,
                         .is_causal = options.tgt_is_causal,
                         .dropout = options.dropout};
    return drop(self_attn_(q, q, q, mha, context).y);
  };
  const auto attend_memory = [&](const Variable& q) {
    const MhaOptions mha{.key_padding_mask = options.memory_key_padding_mask,
                         .attn_mask = options.memory_mask,
                         .dropout = options.dropout};
    return drop(multihead_attn_(q, memory, memory, mha, context).y);
  };
  const auto feed_forward = [&](const Variable& z) {
    const Variable inner = autograd::activate(linear1_(z, context), shape_.activation, context);
    return drop(linear2_(drop(inner), context));
  };
  const auto plus = [&](const Variable& a, const Variable& b) { return autograd::add(a, b, context); };
  if (shape_.norm_first) {
    const Variable a = plus(x, attend_self(norm1_(x, context)));
    const Variable b = plus(a, attend_memory(norm2_(a, context)));
    return plus(b, feed_forward(norm3_(b, context)));
  }
  const Variable a = norm1_(plus(x, attend_self(x)), context);
  const Variable b = norm2_(plus(a, attend_memory(a)), context);
  return norm3_(plus(b, feed_forward(b)), context);
}

}  // namespace attn::nn
