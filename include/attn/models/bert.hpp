// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/attention.hpp>
#include <attn/io/safetensors.hpp>
#include <attn/io/tokenizer.hpp>
#include <attn/models/bert_config.hpp>
#include <attn/models/sentence_settings.hpp>
#include <attn/models/token_batch.hpp>
#include <attn/tensor.hpp>
#include <filesystem>
#include <memory>

namespace attn::models {

class BertModel;

// Reads a model folder as from the Hugging Face hub: config.json, model.safetensors (or its shards with their index),
// and where they are there tokenizer.json and the files of sentence-transformers. Throws Error naming the file, what
// was expected and what was found, for a tokenizer with ids beyond vocab_size, too; a folder that holds
// pytorch_model.bin only is refused with the way to convert it.
ATTN_API BertModel load(const std::filesystem::path& folder, Context& context = default_context());

// A BERT encoder (Devlin et al. 2019): embeddings of words, positions and token types, then layers of self-attention
// and a feed-forward part, each with a residual connection and a layer norm after it.
//
// Computes in f32, whatever dtype the weights are stored in. Cheap to copy (copies share the weights); all members are
// const and may be called from several threads at once.
class ATTN_API BertModel {
 public:
  // From tensors under the hub's names, with or without the prefix "bert.", layer norms also under their old names
  // (LayerNorm.gamma, LayerNorm.beta), f32, f64, bf16 or f16. Tensors that an encoder does not have (cls.*, pooler.*)
  // are left alone. Weights are widened and packed here, once. Throws Error naming the tensor that is absent or has
  // another shape or dtype than the configuration says, and for heads that do not divide hidden_size.
  BertModel(const BertConfig& config, const io::SafeTensors& weights, Context& context = default_context());

  const BertConfig& config() const noexcept;
  // Tokens of the longest text it takes; longer ones are refused by `forward`.
  std::ptrdiff_t max_positions() const noexcept { return config().max_position_embeddings; }
  // Tokens that `embed` cuts a text to: that of sentence_bert_config.json, and at most max_positions().
  std::ptrdiff_t max_seq_length() const noexcept;

  // The folder it was loaded from; empty when it was made from tensors.
  const std::filesystem::path& folder() const noexcept;
  bool has_tokenizer() const noexcept;
  // Throws Error when the folder has no tokenizer.json.
  const io::Tokenizer& tokenizer() const;
  const SentenceSettings& sentence_settings() const noexcept;

  // The last hidden state, f32, (tokens, E), rows in the order of the batch. Layers call attention in order, once each,
  // with q, k and v (1, H, tokens, E / H) and the batch as its packing, so that the context's observer sees them.
  // On one processor a row's bits depend on the tokens of its text alone. Throws Error for a token id, type or position
  // that the model lacks. Time is O(tokens) in the projections and O(length^2) of each text in attention; memory beside
  // the result is that of 5 E + intermediate_size numbers a token.
  Tensor forward(const TokenBatch& batch, Context& context = default_context()) const;
  // The same as (batch, width, E), with 0 at padding. Padding costs nothing.
  Tensor forward(const PaddedTokens& tokens, Context& context = default_context()) const;

 private:
  friend BertModel load(const std::filesystem::path& folder, Context& context);
  struct Impl;
  std::shared_ptr<const Impl> impl_;
  explicit BertModel(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
};

}  // namespace attn::models
