// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <attn/error.hpp>
#include <attn/models/bert_config.hpp>
#include <nlohmann/json.hpp>

#include "io/files.hpp"

namespace attn::models {
namespace {

using nlohmann::json;

json sound() {
  return {{"model_type", "bert"},          {"vocab_size", 98},         {"hidden_size", 32},
          {"num_hidden_layers", 2},        {"num_attention_heads", 4}, {"intermediate_size", 48},
          {"max_position_embeddings", 32}, {"hidden_act", "gelu_new"}, {"layer_norm_eps", 1e-5}};
}

BertConfig read(const json& settings) { return read_bert_config(io::Config::parse(settings.dump(), "config.json")); }

TEST(BertConfig, ReadsSizes) {
  const BertConfig config = read(sound());
  EXPECT_EQ(config.vocab_size, 98);
  EXPECT_EQ(config.hidden_size, 32);
  EXPECT_EQ(config.num_hidden_layers, 2);
  EXPECT_EQ(config.num_attention_heads, 4);
  EXPECT_EQ(config.intermediate_size, 48);
  EXPECT_EQ(config.max_position_embeddings, 32);
  EXPECT_EQ(config.type_vocab_size, 2);
  EXPECT_EQ(config.hidden_act, Activation::gelu_tanh);
  EXPECT_EQ(config.layer_norm_eps, 1e-5);
}

TEST(BertConfig, KnowsEveryActivation) {
  const std::pair<const char*, Activation> known[] = {
      {"gelu", Activation::gelu}, {"gelu_new", Activation::gelu_tanh}, {"gelu_pytorch_tanh", Activation::gelu_tanh},
      {"relu", Activation::relu}, {"silu", Activation::silu},          {"swish", Activation::silu}};
  for (const auto& [name, activation] : known) {
    json settings = sound();
    settings["hidden_act"] = name;
    EXPECT_EQ(read(settings).hidden_act, activation) << name;
  }
}

struct ConfigMutation {
  const char* key;
  json value;  // null: the key is left out
  const char* sentence;
};

TEST(BertConfig, NamesTheKeyThatIsWrong) {
  const ConfigMutation mutations[] = {
      {"model_type", "gpt2", R"(config.json: "model_type": "gpt2", expected "bert")"},
      {"model_type", nullptr, R"(config.json: "model_type": missing, expected a string)"},
      {"vocab_size", nullptr, R"(config.json: "vocab_size": missing, expected an integer)"},
      {"hidden_size", 0, R"(config.json: "hidden_size": 0, expected at least 1)"},
      {"hidden_size", "32", R"(config.json: "hidden_size": found a string, expected an integer)"},
      {"hidden_size", 34, R"(config.json: "hidden_size": 34, expected a multiple of the 4 in "num_attention_heads")"},
      {"num_hidden_layers", 0, R"(config.json: "num_hidden_layers": 0, expected at least 1)"},
      {"num_attention_heads", 2.5,
       R"(config.json: "num_attention_heads": found a number with a fraction or exponent, expected an integer)"},
      {"vocab_size", 3000000000, R"(config.json: "vocab_size": 3000000000, expected at most 2147483647)"},
      {"hidden_act", "quick_gelu",
       R"(config.json: "hidden_act": "quick_gelu", expected gelu, gelu_new, gelu_pytorch_tanh, relu, silu or swish)"},
      {"position_embedding_type", "relative_key",
       R"(config.json: "position_embedding_type": "relative_key", expected "absolute")"},
      {"is_decoder", true, R"(config.json: "is_decoder": true, expected false: this reads encoders only)"},
      {"layer_norm_eps", -1e-5, R"(config.json: "layer_norm_eps": -1e-05, expected a number from 0 to 1)"},
  };
  for (const ConfigMutation& m : mutations) {
    json settings = sound();
    if (m.value.is_null()) {
      settings.erase(m.key);
    } else {
      settings[m.key] = m.value;
    }
    EXPECT_EQ(io::test::message_of([&] { read(settings); }), m.sentence);
  }
}

}  // namespace
}  // namespace attn::models
