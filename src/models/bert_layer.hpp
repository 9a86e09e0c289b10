// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/attention.hpp>
#include <attn/models/bert_config.hpp>
#include <attn/nn/linear.hpp>
#include <attn/nn/norm.hpp>
#include <string>

#include "models/bert_tensors.hpp"

namespace attn::models {

// One layer of the encoder (Devlin et al. 2019; Vaswani et al. 2017, section 3.1, with the norm after each residual).
class BertLayer {
 public:
  // `prefix` is "encoder.layer.0." of the first.
  BertLayer(const BertConfig& config, const BertTensors& tensors, const std::string& prefix);

  // Room for what a layer makes on its way, (tokens, width) f32 each; one for all layers of a model.
  struct Workspace {
    Tensor qkv, mixed, attended, wide;
  };
  Workspace workspace(std::ptrdiff_t tokens, Context& context) const;

  // hidden, (tokens, E) f32, in place. Tokens see those of their own sequence.
  void forward(Tensor& hidden, const Packing& packing, Workspace& room, Context& context) const;

 private:
  std::ptrdiff_t heads_;
  Activation activation_;
  nn::Linear qkv_, attention_output_, intermediate_, output_;
  nn::LayerNorm attention_norm_, output_norm_;
};

}  // namespace attn::models
