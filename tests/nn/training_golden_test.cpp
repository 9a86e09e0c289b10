// SPDX-License-Identifier: Apache-2.0
// Short trainings beside PyTorch's from the same numbers; script/goldens/training_goldens.py made these.
#include <gtest/gtest.h>

#include <attn/autograd.hpp>
#include <attn/io/safetensors.hpp>
#include <attn/memory_pool.hpp>
#include <attn/nn.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/tensors.hpp"
#include "support/test_data.hpp"

namespace attn::nn {
namespace {

struct Goldens {
  io::SafeTensors tensors = io::SafeTensors::open(test::test_data("training/training.safetensors"));

  Variable constant(const std::string& name, DType dtype) const { return Variable(tensors.tensor(name).to(dtype)); }
  StateDict state() const {
    StateDict all;
    for (const std::string& name : tensors.names()) {
      if (name.find(".state.") != std::string::npos) all[name] = tensors.tensor(name);
    }
    return all;
  }
  static std::vector<double> losses(const std::string& name) {
    std::ifstream file(test::test_data("training/training.json"));
    return nlohmann::json::parse(file).at("losses").at(name).get<std::vector<double>>();
  }
};

double loss_value(const Variable& loss) { return test::values_of(loss.value())[0]; }

void expect_losses(const std::vector<double>& found, const std::string& name, double tolerance) {
  const std::vector<double> expected = Goldens::losses(name);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i], expected[i], tolerance * expected[i]) << name << ", step " << i + 1;
  }
}

// A stack of encoder layers.
struct Encoder {
  std::vector<TransformerEncoderLayer> layers;

  Encoder() {
    for (int i = 0; i < 4; ++i) {
      layers.emplace_back(EncoderLayerShape{
          .d_model = 32, .nhead = 4, .dim_feedforward = 64, .activation = Activation::gelu, .norm_first = true});
    }
  }
  void visit(ParameterVisitor& v) {
    for (std::size_t i = 0; i < layers.size(); ++i) v.within("layers." + std::to_string(i), layers[i]);
  }
  Variable operator()(Variable x, Context& context) const {
    for (const TransformerEncoderLayer& layer : layers) x = layer(x, {}, context);
    return x;
  }
};

TEST(TrainingGoldens, TenStepsOfAdamWFollowPyTorch) {
  const Goldens goldens;
  for (const DType dtype : {DType::f32, DType::f64}) {
    Encoder model;
    load_parameters(model, goldens.state(), "adamw.state.", dtype);
    const ParameterList list = parameters(model);
    AdamW optimiser(list, {.lr = 3e-3, .weight_decay = 0.01});
    const Variable x = goldens.constant("adamw.x", dtype), target = goldens.constant("adamw.target", dtype);
    std::vector<double> losses;
    for (int step = 0; step < 10; ++step) {
      optimiser.zero_grad();
      const Variable loss = mse_loss(model(x, default_context()), target);
      loss.backward();
      clip_grad_norm(list, 1);
      optimiser.step();
      losses.push_back(loss_value(loss));
    }
    expect_losses(losses, "adamw", dtype == DType::f32 ? 1e-5 : 1e-10);
  }
}

// Tied embeddings under a decoder layer.
struct Decoder {
  Embedding embed{{.num_embeddings = 9, .embedding_dim = 16}};
  TransformerDecoderLayer layer{{.d_model = 16, .nhead = 2, .dim_feedforward = 24}};

  void visit(ParameterVisitor& v) {
    v.within("embed", embed);
    v.within("layer", layer);
  }
  Variable operator()(const Tensor& ids, const Variable& memory) const {
    return autograd::linear(layer(embed.rows(ids), memory, {.tgt_is_causal = true}), embed.weight_variable());
  }
};

TEST(TrainingGoldens, ADecoderFollowsPyTorch) {
  const Goldens goldens;
  for (const DType dtype : {DType::f32, DType::f64}) {
    Decoder model;
    load_parameters(model, goldens.state(), "decoder.state.", dtype);
    Sgd optimiser(parameters(model), {.lr = 0.05, .momentum = 0.9});
    const Tensor ids = goldens.tensors.tensor("decoder.ids"), targets = goldens.tensors.tensor("decoder.targets");
    const Variable memory = goldens.constant("decoder.memory", dtype);
    std::vector<double> losses;
    for (int step = 0; step < 10; ++step) {
      optimiser.zero_grad();
      const Variable loss = cross_entropy(model(ids, memory), targets, {.label_smoothing = 0.1});
      loss.backward();
      optimiser.step();
      losses.push_back(loss_value(loss));
    }
    expect_losses(losses, "decoder", dtype == DType::f32 ? 1e-5 : 1e-10);
  }
}

TEST(TrainingMemory, DoesNotGrowAfterTheSecondStep) {
  const Goldens goldens;
  MemoryPool pool;
  Context context({.threads = 1, .memory = &pool});  // with one, scratch is the same in every step
  Encoder model;
  initialise(model);
  AdamW optimiser(parameters(model));
  const Variable x = goldens.constant("adamw.x", DType::f32), target = goldens.constant("adamw.target", DType::f32);
  std::size_t after_two = 0;
  for (int step = 0; step < 6; ++step) {
    optimiser.zero_grad();
    mse_loss(model(x, context), target, context).backward(context);
    optimiser.step(context);
    if (step == 1) after_two = pool.upstream_allocations();
  }
  EXPECT_GT(after_two, 0u);
  EXPECT_EQ(pool.upstream_allocations(), after_two);
}

TEST(TrainingMemory, HasTheSameBitsOnAnyNumberOfThreads) {
  const Goldens goldens;
  StateDict one;
  for (const int threads : {1, 2, 5}) {
    Context context({.threads = threads});
    Encoder model;
    initialise(model, {.seed = 3});
    AdamW optimiser(parameters(model));
    const Variable x = goldens.constant("adamw.x", DType::f32), target = goldens.constant("adamw.target", DType::f32);
    for (int step = 0; step < 3; ++step) {
      optimiser.zero_grad();
      mse_loss(model(x, context), target, context).backward(context);
      optimiser.step(context);
    }
    const StateDict state = state_dict(model);
    if (threads == 1) one = state;
    for (const auto& [name, tensor] : state) EXPECT_TRUE(test::same_bits(tensor, one.at(name))) << name;
  }
}

}  // namespace
}  // namespace attn::nn
