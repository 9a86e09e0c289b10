// SPDX-License-Identifier: Apache-2.0
// What encoder and decoder layers are made of.
#pragma once

#include <attn/nn/encoder_layer.hpp>

namespace attn::nn {

inline MhaShape attention_of(const EncoderLayerShape& layer) {
  return {.embed_dim = layer.d_model,
          .num_heads = layer.nhead,
          .dropout_p = layer.dropout_p,
          .bias = layer.bias,
          .layout = layer.layout};
}
inline LinearShape linear1_of(const EncoderLayerShape& layer) {
  return {.in_features = layer.d_model, .out_features = layer.dim_feedforward, .bias = layer.bias};
}
inline LinearShape linear2_of(const EncoderLayerShape& layer) {
  return {.in_features = layer.dim_feedforward, .out_features = layer.d_model, .bias = layer.bias};
}
inline NormShape norm_of(const EncoderLayerShape& layer) {
  return {.features = layer.d_model, .eps = layer.layer_norm_eps, .bias = layer.bias};
}

}  // namespace attn::nn
