// SPDX-License-Identifier: Apache-2.0
#include <attn/error.hpp>
#include <attn/models/bert_config.hpp>
#include <attn/nn/activation.hpp>
#include <limits>
#include <string>

#include "base/concat.hpp"

namespace attn::models {
namespace {

using base::concat;

[[noreturn]] void fail(const io::Config& config, std::string_view key, std::string_view what) {
  throw Error(config.name(), concat('"', key, '"'), what);
}

void expect_text(const io::Config& config, std::string_view key, std::string_view expected, std::string_view found) {
  if (found != expected) fail(config, key, concat('"', found, "\", expected \"", expected, '"'));
}

void expect_false(const io::Config& config, std::string_view key) {
  if (config.get_or<bool>(key, false)) fail(config, key, "true, expected false: this reads encoders only");
}

std::ptrdiff_t read_size(const io::Config& config, std::string_view key, std::int64_t minimum,
                         std::optional<std::int64_t> fallback = {}) {
  constexpr std::int64_t kMaximum = std::numeric_limits<std::int32_t>::max();  // ids and positions are 32-bit
  const std::int64_t size = config.get_at_least(key, minimum, fallback);
  if (size > kMaximum) fail(config, key, concat(size, ", expected at most ", kMaximum));
  return size;
}

void check_heads(const io::Config& config, const BertConfig& sizes) {
  const std::ptrdiff_t heads = sizes.num_attention_heads;
  if (sizes.hidden_size % heads != 0) {
    fail(config, "hidden_size",
         concat(sizes.hidden_size, ", expected a multiple of the ", heads, " in \"num_attention_heads\""));
  }
}

}  // namespace

BertConfig read_bert_config(const io::Config& config) {
  expect_text(config, "model_type", "bert", config.get<std::string>("model_type"));
  expect_text(config, "position_embedding_type", "absolute",
              config.get_or<std::string>("position_embedding_type", "absolute"));
  expect_false(config, "is_decoder");
  expect_false(config, "add_cross_attention");
  BertConfig sizes;
  sizes.vocab_size = read_size(config, "vocab_size", 1);
  sizes.hidden_size = read_size(config, "hidden_size", 1);
  sizes.num_hidden_layers = read_size(config, "num_hidden_layers", 1);
  sizes.num_attention_heads = read_size(config, "num_attention_heads", 1);
  sizes.intermediate_size = read_size(config, "intermediate_size", 1);
  sizes.max_position_embeddings = read_size(config, "max_position_embeddings", 1);
  sizes.type_vocab_size = read_size(config, "type_vocab_size", 1, sizes.type_vocab_size);
  sizes.hidden_act =
      nn::activation_named(config.get_or<std::string>("hidden_act", "gelu"), config.name(), "\"hidden_act\"");
  sizes.layer_norm_eps = config.get_or<double>("layer_norm_eps", sizes.layer_norm_eps);
  if (!(sizes.layer_norm_eps >= 0 && sizes.layer_norm_eps <= 1)) {
    fail(config, "layer_norm_eps", concat(sizes.layer_norm_eps, ", expected a number from 0 to 1"));
  }
  check_heads(config, sizes);
  return sizes;
}

}  // namespace attn::models
