// SPDX-License-Identifier: Apache-2.0
#include <attn/models/transformer_stack.hpp>

#include "base/concat.hpp"

namespace attn::models {
namespace {

nn::EncoderLayerShape layer_shape(const TransformerShape& shape) {
  return {.d_model = shape.width,
          .nhead = shape.heads,
          .dim_feedforward = shape.feedforward,
          .dropout_p = shape.dropout,
          .activation = Activation::gelu,
          .norm_first = shape.norm == NormPlace::before};
}

template <class Layers>
void visit_layers(Layers& layers, nn::ParameterVisitor& visitor) {
  for (std::size_t i = 0; i < layers.size(); ++i) visitor.within(base::concat("layers.", i), layers[i]);
}

}  // namespace

EncoderStack::EncoderStack(const TransformerShape& shape)
    : layers_(static_cast<std::size_t>(shape.layers), nn::TransformerEncoderLayer(layer_shape(shape))),
      norm_({.features = shape.width}),
      ends_with_norm_(shape.norm == NormPlace::before) {}

nn::Variable EncoderStack::operator()(nn::Variable x, const nn::EncoderLayerOptions& options, Context& context) const {
  for (const nn::TransformerEncoderLayer& layer : layers_) x = layer(x, options, context);
  return ends_with_norm_ ? norm_(x, context) : x;
}

void EncoderStack::visit(nn::ParameterVisitor& visitor) {
  visit_layers(layers_, visitor);
  if (ends_with_norm_) visitor.within("norm", norm_);
}

DecoderStack::DecoderStack(const TransformerShape& shape)
    : layers_(static_cast<std::size_t>(shape.layers), nn::TransformerDecoderLayer(layer_shape(shape))),
      norm_({.features = shape.width}),
      ends_with_norm_(shape.norm == NormPlace::before) {}

nn::Variable DecoderStack::operator()(nn::Variable x, const nn::Variable& memory,
                                      const nn::DecoderLayerOptions& options, Context& context) const {
  for (const nn::TransformerDecoderLayer& layer : layers_) x = layer(x, memory, options, context);
  return ends_with_norm_ ? norm_(x, context) : x;
}

void DecoderStack::visit(nn::ParameterVisitor& visitor) {
  visit_layers(layers_, visitor);
  if (ends_with_norm_) visitor.within("norm", norm_);
}

}  // namespace attn::models
