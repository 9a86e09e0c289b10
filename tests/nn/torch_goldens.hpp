// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/io/safetensors.hpp>
#include <attn/nn/encoder_layer.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "support/test_data.hpp"

namespace attn::nn {

// One of the sets of tests/data/torch; its README tells what is in them.
class TorchGoldens {
 public:
  explicit TorchGoldens(const std::string& set)
      : tensors_(io::SafeTensors::open(test::test_data("torch/" + set + ".safetensors"))) {
    std::ifstream file(test::test_data("torch/" + set + ".json"));
    cases_ = nlohmann::json::parse(file).at("cases");
  }
  const nlohmann::json& cases() const { return cases_; }

  Tensor tensor(const nlohmann::json& of, const std::string& name, DType dtype = DType::f32) const {
    return tensors_.tensor(of.at("name").get<std::string>() + "." + name).to(dtype);
  }
  // A mask under its name: absent, floating, or of bools.
  Tensor mask(const nlohmann::json& of, const std::string& name) const {
    if (of.at(name).is_null()) return {};
    const Tensor stored = tensor(of, name);
    if (of.at(name).at("dtype") == "float") return stored;
    Tensor bools = Tensor::empty(DType::boolean, stored.shape());
    std::transform(stored.values<float>().begin(), stored.values<float>().end(), bools.values<bool>().begin(),
                   [](float x) { return x != 0; });
    return bools;
  }
  StateDict state(const nlohmann::json& of, DType dtype = DType::f32) const {
    const std::string prefix = of.at("name").get<std::string>() + ".state.";
    StateDict state;
    for (const std::string& name : tensors_.names()) {
      if (name.starts_with(prefix)) state[name.substr(prefix.size())] = tensors_.tensor(name).to(dtype);
    }
    return state;
  }

 private:
  io::SafeTensors tensors_;
  nlohmann::json cases_;
};

// The layers that cases describe.
inline MultiHeadAttention mha_of(const nlohmann::json& described) {
  const nlohmann::json& c = described.at("constructor");
  const auto size_or_0 = [&](const char* name) { return c.at(name).is_null() ? 0 : c.at(name).get<std::ptrdiff_t>(); };
  return MultiHeadAttention({.embed_dim = c.at("embed_dim"),
                             .num_heads = c.at("num_heads"),
                             .bias = c.at("bias"),
                             .add_bias_kv = c.at("add_bias_kv"),
                             .add_zero_attn = c.at("add_zero_attn"),
                             .kdim = size_or_0("kdim"),
                             .vdim = size_or_0("vdim"),
                             .layout = c.at("batch_first") ? Layout::batch_first : Layout::tokens_first});
}
inline TransformerEncoderLayer encoder_layer_of(const nlohmann::json& described) {
  const nlohmann::json& c = described.at("constructor");
  return TransformerEncoderLayer({.d_model = c.at("d_model"),
                                  .nhead = c.at("nhead"),
                                  .dim_feedforward = c.at("dim_feedforward"),
                                  .activation = activation_named(c.at("activation").get<std::string>()),
                                  .layer_norm_eps = c.at("layer_norm_eps"),
                                  .norm_first = c.at("norm_first"),
                                  .bias = c.at("bias"),
                                  .layout = c.at("batch_first") ? Layout::batch_first : Layout::tokens_first});
}

}  // namespace attn::nn
