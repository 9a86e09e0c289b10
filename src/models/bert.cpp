// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/error.hpp>
#include <attn/models/bert.hpp>
#include <attn/norm.hpp>
#include <attn/parallel.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "base/concat.hpp"
#include "models/bert_layer.hpp"
#include "models/bert_tensors.hpp"
#include "ops/row_access.hpp"

namespace attn::models {
namespace {

using base::concat;

// Throws unless all numbers are below `count`.
void check_range(const TokenBatch& batch, const std::vector<std::int32_t>& numbers, std::string_view what,
                 std::ptrdiff_t count) {
  const auto bad = std::find_if(numbers.begin(), numbers.end(), [&](std::int32_t x) { return x < 0 || x >= count; });
  if (bad == numbers.end()) return;
  const auto token = static_cast<std::int32_t>(bad - numbers.begin());
  const auto text = std::upper_bound(batch.starts().begin(), batch.starts().end(), token) - batch.starts().begin() - 1;
  throw Error("BertModel::forward", "batch",
              concat(what, ' ', *bad, " at token ", token - batch.starts()[static_cast<std::size_t>(text)], " of text ",
                     text, ", expected 0 to ", count - 1));
}

// Sizes that no tensor's shape would contradict. A configuration that was read from a file has passed already.
void check_sizes(const BertConfig& config) {
  const std::ptrdiff_t heads = config.num_attention_heads;
  if (heads < 1 || config.hidden_size % heads != 0) {
    throw Error("BertModel", "num_attention_heads",
                concat(heads, ", expected a divisor of hidden_size ", config.hidden_size));
  }
  if (config.num_hidden_layers < 1) {
    throw Error("BertModel", "num_hidden_layers", concat(config.num_hidden_layers, ", expected at least 1"));
  }
}

// A text whose tokens the model lacks is better refused before anyone has one.
void check_vocabulary(const io::Tokenizer& tokenizer, const std::filesystem::path& file, const BertConfig& config) {
  if (tokenizer.largest_id() < config.vocab_size) return;
  throw Error(file.string(), "",
              concat("a token has the id ", tokenizer.largest_id(), ", expected ids below the ", config.vocab_size,
                     " of \"vocab_size\" in config.json"));
}

}  // namespace

struct BertModel::Impl {
  BertConfig config;
  Tensor words;             // as the file stores it
  Tensor positions, types;  // f32 tables
  nn::LayerNorm embedding_norm;
  std::vector<BertLayer> layers;

  std::filesystem::path folder = {};
  std::optional<io::Tokenizer> tokenizer = {};
  SentenceSettings sentence = {};

  Impl(const BertConfig& sizes, const io::SafeTensors& weights, Context& context);
  Tensor embed(const TokenBatch& batch, Context& context) const;
};

BertModel::Impl::Impl(const BertConfig& sizes, const io::SafeTensors& weights, Context& context) : config(sizes) {
  check_sizes(config);
  const BertTensors tensors(weights, context);
  const std::ptrdiff_t e = config.hidden_size;
  const std::string prefix = "embeddings.";
  words = tensors.table(prefix + "word_embeddings.weight", config.vocab_size, e);
  positions = tensors.table(prefix + "position_embeddings.weight", config.max_position_embeddings, e).to(DType::f32);
  types = tensors.table(prefix + "token_type_embeddings.weight", config.type_vocab_size, e).to(DType::f32);
  embedding_norm = tensors.layer_norm(prefix + "LayerNorm", e, config.layer_norm_eps);
  for (std::ptrdiff_t i = 0; i < config.num_hidden_layers; ++i) {
    layers.emplace_back(config, tensors, concat("encoder.layer.", i, '.'));
  }
}

// The sum of the three embeddings of each token, normalised.
Tensor BertModel::Impl::embed(const TokenBatch& batch, Context& context) const {
  const std::ptrdiff_t e = config.hidden_size;
  const std::ptrdiff_t shape[] = {batch.tokens(), e};
  Tensor sum = Tensor::empty(DType::f32, shape, context.memory());
  const View<float, 2> rows = sum.view<float, 2>();
  const View<const float, 2> position_rows = positions.view<float, 2>(), type_rows = types.view<float, 2>();
  const ops::RowReader<float> words_reader(words);
  constexpr std::ptrdiff_t kBlock = 64;  // tokens of a task
  parallel_for((batch.tokens() + kBlock - 1) / kBlock,
               [&](std::ptrdiff_t task) {
                 for (std::ptrdiff_t i = task * kBlock; i < std::min(batch.tokens(), (task + 1) * kBlock); ++i) {
                   const auto token = static_cast<std::size_t>(i);
                   float* row = &rows(i, 0);
                   const float* word = words_reader.read(batch.ids()[token], 0, e, row);
                   const float* position = &position_rows(batch.positions()[token], 0);
                   const float* type = &type_rows(batch.types()[token], 0);
                   for (std::ptrdiff_t j = 0; j < e; ++j) row[j] = word[j] + type[j] + position[j];
                 }
               },
               context);
  layer_norm(sum, sum, embedding_norm.options(), context);
  return sum;
}

BertModel::BertModel(const BertConfig& config, const io::SafeTensors& weights, Context& context)
    : impl_(std::make_shared<const Impl>(config, weights, context)) {}

BertModel load(const std::filesystem::path& folder, Context& context) {
  // The weights first: they know best what to say of a folder that is none.
  const io::SafeTensors weights = io::SafeTensors::open_model(folder);
  const BertConfig config = read_bert_config(io::Config::load(folder / "config.json"));
  auto impl = std::make_shared<BertModel::Impl>(config, weights, context);
  impl->folder = folder;
  if (std::filesystem::exists(folder / "tokenizer.json")) {
    impl->tokenizer = io::Tokenizer::load(folder / "tokenizer.json");
    check_vocabulary(*impl->tokenizer, folder / "tokenizer.json", config);
  }
  impl->sentence = read_sentence_settings(folder);
  return BertModel(std::move(impl));
}

const BertConfig& BertModel::config() const noexcept { return impl_->config; }

std::ptrdiff_t BertModel::max_seq_length() const noexcept {
  const std::ptrdiff_t limit = max_positions();
  return std::min(limit, static_cast<std::ptrdiff_t>(impl_->sentence.max_seq_length.value_or(limit)));
}

const std::filesystem::path& BertModel::folder() const noexcept { return impl_->folder; }

bool BertModel::has_tokenizer() const noexcept { return impl_->tokenizer.has_value(); }

const io::Tokenizer& BertModel::tokenizer() const {
  if (!impl_->tokenizer) {
    throw Error(impl_->folder.string(), "tokenizer.json", "missing, expected it to read texts");
  }
  return *impl_->tokenizer;
}

const SentenceSettings& BertModel::sentence_settings() const noexcept { return impl_->sentence; }

Tensor BertModel::forward(const TokenBatch& batch, Context& context) const {
  check_range(batch, batch.ids(), "token id", config().vocab_size);
  check_range(batch, batch.types(), "token type", config().type_vocab_size);
  check_range(batch, batch.positions(), "position", config().max_position_embeddings);
  Tensor hidden = impl_->embed(batch, context);
  const Packing packing{.cu_q = batch.starts(), .cu_k = batch.starts()};
  if (impl_->layers.empty()) return hidden;
  BertLayer::Workspace room = impl_->layers.front().workspace(batch.tokens(), context);
  for (const BertLayer& layer : impl_->layers) layer.forward(hidden, packing, room, context);
  return hidden;
}

Tensor BertModel::forward(const PaddedTokens& tokens, Context& context) const {
  const TokenBatch batch(tokens);
  const Tensor hidden = forward(batch, context);
  const std::ptrdiff_t e = config().hidden_size;
  const std::ptrdiff_t shape[] = {tokens.ids.extent(0), tokens.ids.extent(1), e};
  Tensor padded = Tensor::zeros(DType::f32, shape, context.memory());
  const View<float, 3> to = padded.view<float, 3>();
  const View<const float, 2> from = hidden.view<float, 2>();
  for (std::ptrdiff_t n = 0; n < batch.texts(); ++n) {
    const std::ptrdiff_t end = batch.starts()[static_cast<std::size_t>(n) + 1];
    for (std::ptrdiff_t i = batch.starts()[static_cast<std::size_t>(n)]; i < end; ++i) {
      std::copy_n(&from(i, 0), e, &to(n, batch.positions()[static_cast<std::size_t>(i)], 0));
    }
  }
  return padded;
}

}  // namespace attn::models
