// SPDX-License-Identifier: Apache-2.0
#include <attn/autograd/elementwise.hpp>
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

nn::Variable as(DType dtype, const nn::Variable& x, Context& context) {
  return dtype == DType::none ? x : autograd::to(x, dtype, context);
}

template <class Layers>
void visit_layers(Layers& layers, nn::ParameterVisitor& visitor) {
  for (std::size_t i = 0; i < layers.size(); ++i) visitor.within(base::concat("layers.", i), layers[i]);
}

}  // namespace

EncoderStack::EncoderStack(const TransformerShape& shape)
    : layers_(static_cast<std::size_t>(shape.layers), nn::TransformerEncoderLayer(layer_shape(shape))),
      norm_({.features = shape.width}),
      ends_with_norm_(shape.norm == NormPlace::before),
      activations_(shape.activations) {}

nn::Variable EncoderStack::operator()(nn::Variable x, const nn::EncoderLayerOptions& options, Context& context) const {
  const DType given = x.dtype();
  x = as(activations_, x, context);
  for (const nn::TransformerEncoderLayer& layer : layers_) x = layer(x, options, context);
  return as(given, ends_with_norm_ ? norm_(x, context) : x, context);
}

void EncoderStack::visit(nn::ParameterVisitor& visitor) {
  visit_layers(layers_, visitor);
  if (ends_with_norm_) visitor.within("norm", norm_);
}

DecoderStack::DecoderStack(const TransformerShape& shape)
    : layers_(static_cast<std::size_t>(shape.layers), nn::TransformerDecoderLayer(layer_shape(shape))),
      norm_({.features = shape.width}),
      ends_with_norm_(shape.norm == NormPlace::before),
      activations_(shape.activations) {}

nn::Variable DecoderStack::operator()(nn::Variable x, const nn::Variable& memory,
                                      const nn::DecoderLayerOptions& options, Context& context) const {
  const DType given = x.dtype();
  const nn::Variable seen = as(activations_, memory, context);
  x = as(activations_, x, context);
  for (const nn::TransformerDecoderLayer& layer : layers_) x = layer(x, seen, options, context);
  return as(given, ends_with_norm_ ? norm_(x, context) : x, context);
}

void DecoderStack::visit(nn::ParameterVisitor& visitor) {
  visit_layers(layers_, visitor);
  if (ends_with_norm_) visitor.within("norm", norm_);
}

}  // namespace attn::models
