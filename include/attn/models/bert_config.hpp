// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/activation.hpp>
#include <attn/io/config.hpp>
#include <attn/version.hpp>
#include <cstddef>

namespace attn::models {
inline namespace ATTN_ABI {

// The sizes of a BERT encoder (Devlin et al. 2019), under the names of its config.json.
struct BertConfig {
  std::ptrdiff_t vocab_size = 0;   // word embeddings
  std::ptrdiff_t hidden_size = 0;  // E, a multiple of num_attention_heads
  std::ptrdiff_t num_hidden_layers = 0;
  std::ptrdiff_t num_attention_heads = 1;      // H
  std::ptrdiff_t intermediate_size = 0;        // width of the feed-forward part
  std::ptrdiff_t max_position_embeddings = 0;  // tokens of the longest text
  std::ptrdiff_t type_vocab_size = 2;          // token types (segments)
  Activation hidden_act = Activation::gelu;    // of the feed-forward part
  double layer_norm_eps = 1e-12;               // added to the variance
};

}  // namespace ATTN_ABI

// Reads config.json. Activations: gelu, gelu_new, gelu_pytorch_tanh, relu, silu, swish. Throws Error naming the file
// and the key for a model_type other than "bert", a decoder, positions other than "absolute", another activation, a
// size that is missing, too small or too large, and a hidden size that the heads do not divide.
ATTN_API BertConfig read_bert_config(const io::Config& config);

}  // namespace attn::models
