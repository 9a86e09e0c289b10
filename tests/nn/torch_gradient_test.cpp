// SPDX-License-Identifier: Apache-2.0
// Gradients of layers beside PyTorch's in float64; tests/data/torch/README.md says how they were made.
#include <gtest/gtest.h>

#include <algorithm>
#include <attn/autograd.hpp>
#include <iostream>

#include "nn/torch_goldens.hpp"
#include "support/tensors.hpp"

namespace attn::nn {
namespace {

// The gradients that a case asks of PyTorch, compared with those that these variables hold: of the inputs, then of the
// parameters in the order of their names. The largest difference; infinite where they are not as many.
template <class Layer>
double gradient_difference(const Tensor& expected, const std::vector<Variable>& inputs, Layer& layer) {
  std::map<std::string, Variable> by_name;
  for (const NamedParameter& p : parameters(layer)) by_name.emplace(p.name, p.variable);
  std::vector<double> found;
  const auto append = [&](const Variable& x) {
    const std::vector<double> values = test::values_of(x.grad());
    found.insert(found.end(), values.begin(), values.end());
  };
  for (const Variable& x : inputs) append(x);
  for (const auto& [name, parameter] : by_name) append(parameter);
  Tensor all = Tensor::empty(DType::f64, std::ssize(found));
  std::copy(found.begin(), found.end(), all.values<double>().begin());
  return test::largest_difference(all, expected);
}

double mha_difference(const TorchGoldens& goldens, const nlohmann::json& described, DType dtype) {
  MultiHeadAttention layer = mha_of(described);
  load_parameters(layer, goldens.state(described, dtype));
  std::vector<Variable> inputs;
  for (const char* name : {"query", "key", "value"}) {
    if (inputs.empty() || !described.at("self_attention")) {
      inputs.emplace_back(goldens.tensor(described, name, dtype), true);
    }
  }
  const Tensor padding = goldens.mask(described, "key_padding_mask"), mask = goldens.mask(described, "attn_mask");
  const nlohmann::json& call = described.at("call");
  const Variable& key = inputs.size() == 1 ? inputs[0] : inputs[1];
  const MhaVariables found = layer(inputs.front(), key, inputs.back(),
                                   {.need_weights = call.at("need_weights"),
                                    .key_padding_mask = padding,
                                    .attn_mask = mask,
                                    .is_causal = call.at("is_causal")});
  found.y.backward(goldens.tensor(described, "grad_out", dtype));
  return gradient_difference(goldens.tensor(described, "gradients"), inputs, layer);
}

double encoder_layer_difference(const TorchGoldens& goldens, const nlohmann::json& described, DType dtype) {
  TransformerEncoderLayer layer = encoder_layer_of(described);
  load_parameters(layer, goldens.state(described, dtype));
  const Variable src(goldens.tensor(described, "src", dtype), true);
  const Tensor mask = goldens.mask(described, "src_mask"), padding = goldens.mask(described, "src_key_padding_mask");
  const Variable y =
      layer(src, {.src_mask = mask, .src_key_padding_mask = padding, .is_causal = described.at("is_causal")});
  y.backward(goldens.tensor(described, "grad_out", dtype));
  return gradient_difference(goldens.tensor(described, "gradients"), {src}, layer);
}

// PyTorch's are rounded to f32 once, and reach about 20: in f64 that is all that differs.
template <class Difference>
void expect_as_torch(const std::string& set, const Difference& difference) {
  const TorchGoldens goldens(set);
  EXPECT_EQ(goldens.cases().size(), 100u);
  for (const auto& [dtype, tolerance] : {std::pair{DType::f32, 2e-5}, std::pair{DType::f64, 2e-6}}) {
    double worst = 0;
    for (const nlohmann::json& described : goldens.cases()) {
      SCOPED_TRACE(described.at("name").get<std::string>());
      double error = HUGE_VAL;
      ASSERT_NO_THROW(error = difference(goldens, described, dtype));
      EXPECT_LE(error, tolerance);
      worst = std::max(worst, error);
    }
    std::cout << goldens.cases().size() << " gradients in " << name_of(dtype) << ", largest error " << worst << '\n';
  }
}

TEST(TorchGradients, OfMultiHeadAttention) { expect_as_torch("mha_grad", mha_difference); }
TEST(TorchGradients, OfTheEncoderLayer) { expect_as_torch("encoder_layer_grad", encoder_layer_difference); }

}  // namespace
}  // namespace attn::nn
