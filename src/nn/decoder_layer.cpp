// SPDX-License-Identifier: Apache-2.0
#include <attn/nn/decoder_layer.hpp>

#include "nn/layer_shapes.hpp"

namespace attn::nn {

TransformerDecoderLayer::TransformerDecoderLayer(const EncoderLayerShape& shape)
    : shape_(shape),
      self_attn_(attention_of(shape)),
      multihead_attn_(self_attn_),
      linear1_(linear1_of(shape)),
      linear2_(linear2_of(shape)),
      norm1_(norm_of(shape)),
      norm2_(norm1_),
      norm3_(norm1_) {}

void TransformerDecoderLayer::load(const StateDict& state, const std::string& prefix, Context& context) {
  load_state(*this, state, prefix, context);
}

template <class To>
void TransformerDecoderLayer::give_parts(To& to) {
  to.within("self_attn", self_attn_);
  to.within("multihead_attn", multihead_attn_);
  to.within("linear1", linear1_);
  to.within("linear2", linear2_);
  to.within("norm1", norm1_);
  to.within("norm2", norm2_);
  to.within("norm3", norm3_);
}

void TransformerDecoderLayer::read(StateReader& reader) { give_parts(reader); }

void TransformerDecoderLayer::visit(ParameterVisitor& visitor) { give_parts(visitor); }

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
