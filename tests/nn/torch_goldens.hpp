// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/io/safetensors.hpp>
#include <attn/nn/input.hpp>
#include <attn/nn/state_dict.hpp>
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

}  // namespace attn::nn
