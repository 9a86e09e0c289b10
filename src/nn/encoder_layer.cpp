// SPDX-License-Identifier: Apache-2.0
#include <attn/autograd/elementwise.hpp>
#include <attn/nn/encoder_layer.hpp>

namespace attn::nn {
namespace {

std::optional<NormOptions> options_of(const LayerNorm* norm) {
  return norm == nullptr ? std::nullopt : std::optional(norm->options());
}

}  // namespace

TransformerEncoderLayer::TransformerEncoderLayer(const EncoderLayerShape& shape)
    : shape_(shape),
      self_attn_({.embed_dim = shape.d_model,
                  .num_heads = shape.nhead,
                  .dropout_p = shape.dropout_p,
                  .bias = shape.bias,
                  .layout = shape.layout}),
      linear1_({.in_features = shape.d_model, .out_features = shape.dim_feedforward, .bias = shape.bias}),
      linear2_({.in_features = shape.dim_feedforward, .out_features = shape.d_model, .bias = shape.bias}),
      norm1_({.features = shape.d_model, .eps = shape.layer_norm_eps, .bias = shape.bias}),
      norm2_(norm1_) {}

void TransformerEncoderLayer::load(const StateDict& state, const std::string& prefix, Context& context) {
  load_state(*this, state, prefix, context);
}

void TransformerEncoderLayer::read(StateReader& reader) {
  const auto read = [&](auto& layer, const char* prefix) {
    StateReader inner = reader.within(prefix);
    layer.read(inner);
  };
  read(self_attn_, "self_attn.");
  read(linear1_, "linear1.");
  read(linear2_, "linear2.");
  read(norm1_, "norm1.");
  read(norm2_, "norm2.");
}

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

void TransformerEncoderLayer::visit(ParameterVisitor& visitor) {
  visitor.within("self_attn", self_attn_);
  visitor.within("linear1", linear1_);
  visitor.within("linear2", linear2_);
  visitor.within("norm1", norm1_);
  visitor.within("norm2", norm2_);
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
