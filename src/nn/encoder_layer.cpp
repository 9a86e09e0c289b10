// SPDX-License-Identifier: Apache-2.0
#include <attn/autograd/elementwise.hpp>
#include <attn/nn/encoder_layer.hpp>

#include "nn/layer_shapes.hpp"

namespace attn::nn {
namespace {

std::optional<NormOptions> options_of(const LayerNorm* norm) {
  return norm == nullptr ? std::nullopt : std::optional(norm->options());
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(const EncoderLayerShape& shape)
    : shape_(shape),
      self_attn_(attention_of(shape)),
      linear1_(linear1_of(shape)),
      linear2_(linear2_of(shape)),
      norm1_(norm_of(shape)),
      norm2_(norm1_) {}

void TransformerEncoderLayer::load(const StateDict& state, const std::string& prefix, Context& context) {
  load_state(*this, state, prefix, context);
}

template <class To>
void TransformerEncoderLayer::give_parts(To& to) {
  to.within("self_attn", self_attn_);
  to.within("linear1", linear1_);
  to.within("linear2", linear2_);
  to.within("norm1", norm1_);
  to.within("norm2", norm2_);
}

void TransformerEncoderLayer::read(StateReader& reader) { give_parts(reader); }

void TransformerEncoderLayer::visit(ParameterVisitor& visitor) { give_parts(visitor); }

Tensor TransformerEncoderLayer::attend(const Input& x, const Input& residual, const LayerNorm* norm,
                                       const EncoderLayerOptions& options, Context& context) const {
  return self_attn_(x, x, x,
                    {.key_padding_mask = options.src_key_padding_mask,
                     .attn_mask = options.src_mask,
                     .is_causal = options.is_causal,
                     .residual = residual,
                     .norm = options_of(norm),
                     .attention = options.attention},
                    context)
      .y;
}

Tensor TransformerEncoderLayer::feed_forward(const Input& x, const Input& residual, const LayerNorm* norm,
                                             Context& context) const {
  const Tensor inner = linear1_(x, {.activation = shape_.activation}, context);
  return linear2_(inner, {.residual = residual, .norm = options_of(norm)}, context);
}

Tensor TransformerEncoderLayer::operator()(Input x, const EncoderLayerOptions& options, Context& context) const {
  if (shape_.norm_first) {
    const Tensor attended = attend(norm1_(x, context), x, nullptr, options, context);
    return feed_forward(norm2_(attended, context), attended, nullptr, context);
  }
  const Tensor attended = attend(x, x, &norm1_, options, context);
  return feed_forward(attended, attended, &norm2_, context);
}

Variable TransformerEncoderLayer::attend(const Variable& x, const EncoderLayerOptions& options,
                                         Context& context) const {
  const MhaVariables attended = self_attn_(x, x, x,
                                           {.key_padding_mask = options.src_key_padding_mask,
                                            .attn_mask = options.src_mask,
                                            .is_causal = options.is_causal,
                                            .attention = options.attention,
                                            .dropout = options.dropout},
                                           context);
  return dropout(attended.y, shape_.dropout_p, options.dropout, context);
}

Variable TransformerEncoderLayer::feed_forward(const Variable& x, const EncoderLayerOptions& options,
                                               Context& context) const {
  const Variable inner = autograd::activate(linear1_(x, context), shape_.activation, context);
  const Variable y = linear2_(dropout(inner, shape_.dropout_p, options.dropout, context), context);
  return dropout(y, shape_.dropout_p, options.dropout, context);
}

Variable TransformerEncoderLayer::operator()(const Variable& x, const EncoderLayerOptions& options,
                                             Context& context) const {
  if (shape_.norm_first) {
    const Variable attended = autograd::add(x, attend(norm1_(x, context), options, context), context);
    return autograd::add(attended, feed_forward(norm2_(attended, context), options, context), context);
  }
  const Variable attended = norm1_(autograd::add(x, attend(x, options, context), context), context);
  return norm2_(autograd::add(attended, feed_forward(attended, options, context), context), context);
}

}  // namespace attn::nn
