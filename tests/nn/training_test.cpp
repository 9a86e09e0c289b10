// SPDX-License-Identifier: Apache-2.0
// Layers with gradients beside those of inference, and what training needs around them.
#include <gtest/gtest.h>

#include <attn/autograd.hpp>
#include <attn/nn.hpp>

#include "support/tensors.hpp"

namespace attn::nn {
namespace {

using test::message_of;
using test::normal_tensor;
using test::values_of;

TEST(TrainingLayers, ServeAsTheyWereTrained) {
  for (const bool norm_first : {false, true}) {
    const EncoderLayerShape shape{.d_model = 16, .nhead = 4, .dim_feedforward = 24, .norm_first = norm_first};
    TransformerEncoderLayer encoder(shape), loaded(shape);
    initialise(encoder, {.seed = 1});
    const Tensor x = normal_tensor(DType::f32, 2, 2, 5, 16), memory = normal_tensor(DType::f32, 3, 2, 7, 16);
    const Tensor trained = encoder(Variable(x)).value();
    EXPECT_LT(test::largest_difference(encoder(x), trained), 2e-6);
    loaded.load(state_dict(encoder));
    EXPECT_TRUE(test::same_bits(loaded(x), encoder(x)));
    // Changed in place, as an optimiser does.
    Tensor weight = parameters(encoder)[0].variable.value();
    for (float& w : weight.values<float>()) w *= 2;
    EXPECT_GT(test::largest_difference(encoder(x), trained), 1e-3);

    TransformerDecoderLayer decoder(shape);
    initialise(decoder, {.seed = 2});
    EXPECT_LT(test::largest_difference(decoder(x, memory, {.tgt_is_causal = true}),
                                       decoder(Variable(x), Variable(memory), {.tgt_is_causal = true}).value()),
              2e-6);
  }
}

TEST(TrainingLayers, GiveWeightsAsInference) {
  MultiHeadAttention mha({.embed_dim = 16, .num_heads = 4});
  initialise(mha, {.seed = 1});
  const Tensor x = normal_tensor(DType::f32, 2, 2, 5, 16);
  const MhaOptions options{.need_weights = true, .is_causal = true};
  const auto [y, weights] = mha(Variable(x), Variable(x), Variable(x), options);
  EXPECT_TRUE(test::same_bits(weights.value(), mha(x, x, x, options).weights));
}

TEST(TrainingLayers, ReplayTheirDropout) {
  TransformerEncoderLayer layer({.d_model = 16, .nhead = 4, .dim_feedforward = 24, .dropout_p = 0.5});
  initialise(layer);
  const Variable x(normal_tensor(DType::f32, 2, 2, 5, 16));
  DropoutStream stream{.seed = 7};
  const Tensor first = layer(x, {.dropout = &stream}).value(), second = layer(x, {.dropout = &stream}).value();
  EXPECT_FALSE(test::same_bits(first, second));
  DropoutStream again{.seed = 7};
  EXPECT_TRUE(test::same_bits(first, layer(x, {.dropout = &again}).value()));
  EXPECT_TRUE(test::same_bits(second, layer(x, {.dropout = &again}).value()));
  EXPECT_FALSE(test::same_bits(first, layer(x).value()));
}

// A model of a user's own.
struct Tagger {
  Embedding embed{{.num_embeddings = 11, .embedding_dim = 8}};
  TransformerEncoderLayer layer{{.d_model = 8, .nhead = 2, .dim_feedforward = 12}};
  Linear head{{.in_features = 8, .out_features = 3}};

  void visit(ParameterVisitor& v) {
    v.within("embed", embed);
    v.within("layers.0", layer);
    v.within("head", head);
  }
  Variable operator()(const Tensor& ids, Context& context = default_context()) const {
    return head(layer(embed.rows(ids, context), {}, context), context);
  }
};

TEST(Parameters, HavePyTorchsNames) {
  Tagger tagger;
  EXPECT_EQ(message_of([&] { parameters(tagger); }),
            "parameters: embed.weight: holds nothing, expected initialise or load_parameters first");
  initialise(tagger);
  std::string names;
  for (const auto& [name, tensor] : state_dict(tagger)) names += name + " ";
  EXPECT_EQ(names,
            "embed.weight head.bias head.weight layers.0.linear1.bias layers.0.linear1.weight layers.0.linear2.bias "
            "layers.0.linear2.weight layers.0.norm1.bias layers.0.norm1.weight layers.0.norm2.bias "
            "layers.0.norm2.weight layers.0.self_attn.in_proj_bias layers.0.self_attn.in_proj_weight "
            "layers.0.self_attn.out_proj.bias layers.0.self_attn.out_proj.weight ");
}

TEST(Parameters, AreLoadedAllOrNotAtAll) {
  Tagger a, b;
  initialise(a, {.seed = 1});
  initialise(b, {.seed = 2});
  StateDict state = state_dict(a);
  state["head.weight"] = Tensor::zeros(DType::f32, 2, 8);
  state["other"] = Tensor::zeros(DType::f32, 1);
  state.erase("embed.weight");
  const StateDict before = state_dict(b);
  EXPECT_EQ(message_of([&] { load_parameters(b, state); }),
            "state dict: embed.weight: missing, expected shape (11, 8); head.weight: shape (2, 8), expected (3, 8); "
            "other: not in the model");
  EXPECT_TRUE(test::same_bits(before.at("head.bias"), state_dict(b).at("head.bias")));
  load_parameters(b, state_dict(a));
  EXPECT_TRUE(test::same_bits(state_dict(a).at("embed.weight"), state_dict(b).at("embed.weight")));
  EXPECT_NE(state_dict(a).at("embed.weight").data(), state_dict(b).at("embed.weight").data());
}

TEST(Parameters, StartAsTheSchemeSays) {
  Linear layer({.in_features = 400, .out_features = 200});
  const auto deviation = [&](InitScheme scheme) {
    initialise(layer, {.seed = 5, .scheme = scheme});
    double squares = 0;
    for (const float w : layer.weight_variable().value().values<float>()) squares += double{w} * double{w};
    return std::sqrt(squares / (400 * 200));
  };
  EXPECT_NEAR(deviation(InitScheme::of_the_layer), 1 / std::sqrt(3.0 * 400), 1e-3);
  EXPECT_NEAR(deviation(InitScheme::xavier_uniform), std::sqrt(2.0 / 600), 1e-3);
  EXPECT_NEAR(deviation(InitScheme::xavier_normal), std::sqrt(2.0 / 600), 1e-3);
  EXPECT_NEAR(deviation(InitScheme::kaiming_uniform), std::sqrt(2.0 / 400), 1e-3);
  EXPECT_NEAR(deviation(InitScheme::kaiming_normal), std::sqrt(2.0 / 400), 1e-3);
  EXPECT_NEAR(deviation(InitScheme::normal), 0.02, 1e-3);
  EXPECT_EQ(values_of(layer.bias_variable().value())[0], 0);
}

// Some steps of training the tagger; its losses.
template <class Optimiser, class... Options>
std::vector<double> losses_of(Tagger& tagger, Optimiser& optimiser, int steps, Context& context = default_context()) {
  const Tensor ids = Tensor::of<std::int64_t>({1, 2, 3, 4, 5, 6, 7, 8}, 2, 4);
  const Tensor tags = Tensor::of<std::int64_t>({0, 1, 2, 0, 1, 2, 0, 1}, 2, 4);
  std::vector<double> losses;
  for (int i = 0; i < steps; ++i) {
    optimiser.zero_grad();
    const Variable loss = cross_entropy(tagger(ids, context), tags, {}, context);
    loss.backward(context);
    optimiser.step(context);
    losses.push_back(values_of(loss.value())[0]);
  }
  return losses;
}

TEST(Optimisers, MakeTheLossFall) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f64}) {
    Tagger tagger;
    initialise(tagger, {.dtype = dtype});
    AdamW adamw(parameters(tagger), {.lr = 0.02, .weight_decay = 0.01});
    const std::vector<double> losses = losses_of(tagger, adamw, 25);
    EXPECT_LT(losses.back(), 0.2 * losses.front()) << name_of(dtype);
  }
  Tagger tagger;
  initialise(tagger);
  Sgd sgd(parameters(tagger), {.lr = 0.1, .momentum = 0.9});
  const std::vector<double> losses = losses_of(tagger, sgd, 25);
  EXPECT_LT(losses.back(), 0.2 * losses.front());
}

TEST(Optimisers, GoOnWithTheSameBits) {
  for (const DType dtype : {DType::f32, DType::bf16}) {
    Tagger whole, first, second;
    initialise(whole, {.seed = 1, .dtype = dtype});
    initialise(first, {.seed = 1, .dtype = dtype});
    Adam of_whole(parameters(whole), {.lr = 0.01}), of_first(parameters(first), {.lr = 0.01});
    losses_of(whole, of_whole, 6);
    losses_of(first, of_first, 3);
    load_parameters(second, state_dict(first));
    Adam of_second(parameters(second), {.lr = 0.01});
    of_second.load_state(of_first.state());
    losses_of(second, of_second, 3);
    for (const auto& [name, tensor] : state_dict(whole)) {
      EXPECT_TRUE(test::same_bits(tensor, state_dict(second).at(name))) << name;
    }
    StateDict state = of_first.state();
    state.erase("step");
    EXPECT_EQ(message_of([&] { of_second.load_state(state); }), "state dict: step: missing, expected one i64");
  }
}

TEST(WeightAverage, IsTheRunningMean) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    Tensor weights = Tensor::zeros(dtype, 3);
    const auto set = [&](double first) {
      const Tensor numbers = Tensor::of<double>({first, -2 * first, 1 / first}, 3);
      autograd::assign(weights, numbers);
    };
    set(1);
    WeightAverage average({{"w", Variable(weights, true)}}, 0.4);
    std::vector<double> mean = values_of(weights);
    for (int t = 1; t <= 9; ++t) {
      set(1 + 0.25 * t);
      average.update();
      // Until step 5 less is kept than the decay says.
      const double keep = t < 5 ? (1.0 + t) / (10.0 + t) : 0.4;
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] = keep * mean[i] + (1 - keep) * values_of(weights)[i];
    }
    const Tensor last = weights.clone();
    average.exchange();
    for (std::size_t i = 0; i < mean.size(); ++i) {
      // Nine sums and products of f32, each rounded once.
      EXPECT_NEAR(values_of(weights)[i], mean[i], (dtype == DType::f32 ? 1e-6 : 1e-14) * std::abs(mean[i]));
    }
    average.exchange();
    EXPECT_TRUE(test::same_bits(weights, last));
  }
}

TEST(WeightAverage, GoesOnWithTheSameBits) {
  Tensor weights = Tensor::of<float>({1, 2, 3}, 3);
  const ParameterList list{{"w", Variable(weights, true)}};
  WeightAverage whole(list, 0.9), second(list, 0.9);
  for (int t = 0; t < 3; ++t) {
    weights.values<float>()[0] = static_cast<float>(t);
    whole.update();
  }
  second.load_state(whole.state());
  EXPECT_EQ(second.steps(), 3);
  whole.update();
  second.update();
  EXPECT_TRUE(test::same_bits(whole.state().at("mean.w"), second.state().at("mean.w")));
  StateDict state = whole.state();
  state["mean.w"] = Tensor::of<float>({1, 2}, 2);
  EXPECT_EQ(message_of([&] { second.load_state(state); }), "state dict: mean.w: shape (2), expected (3)");
  EXPECT_EQ(second.steps(), 4);
  EXPECT_EQ(message_of([&] { WeightAverage(list, 1); }), "WeightAverage: decay: 1, expected 0 to below 1");
}

TEST(Gradients, AreClippedToTheirNorm) {
  const Variable a(Tensor::of<float>({1, 2}, 2), true), b(Tensor::of<float>({3}, 1), true);
  const ParameterList list{{"a", a}, {"b", b}};
  EXPECT_EQ(grad_norm(list), 0);
  a.add_to_grad(Tensor::of<float>({3, 0}, 2));
  b.add_to_grad(Tensor::of<float>({4}, 1));
  EXPECT_EQ(clip_grad_norm(list, 10), 5);
  EXPECT_EQ(values_of(a.grad())[0], 3);
  EXPECT_EQ(clip_grad_norm(list, 1), 5);
  EXPECT_NEAR(grad_norm(list), 1, 1e-6);
  EXPECT_EQ(first_non_finite_grad(list), "");
  b.add_to_grad(Tensor::of<float>({HUGE_VALF}, 1));
  EXPECT_EQ(first_non_finite_grad(list), "b");
}

TEST(Gradients, AreUnscaledUnlessTheyOverflow) {
  const Variable a(Tensor::of<float>({1}, 1), true);
  const ParameterList list{{"a", a}};
  LossScaler scaler({.scale = 8, .growth_interval = 2});
  scaler.scaled(autograd::sum(a)).backward();
  EXPECT_EQ(values_of(a.grad())[0], 8);
  EXPECT_TRUE(scaler.unscale(list));
  EXPECT_EQ(values_of(a.grad())[0], 1);
  EXPECT_TRUE(scaler.unscale(list));
  EXPECT_EQ(scaler.scale(), 16);
  a.add_to_grad(Tensor::of<float>({HUGE_VALF}, 1));
  EXPECT_FALSE(scaler.unscale(list));
  EXPECT_EQ(scaler.scale(), 8);
}

TEST(Schedules, GoUpAndDown) {
  EXPECT_EQ(warmup_cosine(5, 10, 100), 0.5);
  EXPECT_EQ(warmup_cosine(10, 10, 100), 1);
  EXPECT_NEAR(warmup_cosine(55, 10, 100, 0.2), 0.6, 1e-12);
  EXPECT_EQ(warmup_cosine(200, 10, 100, 0.2), 0.2);
  EXPECT_EQ(inverse_sqrt(5, 10), 0.5);
  EXPECT_EQ(inverse_sqrt(40, 10), 0.5);
  EXPECT_EQ(message_of([] { warmup_cosine(1, 11, 10); }), "warmup_cosine: warmup: 11, expected 0 to the total of 10");
}

TEST(TrainingLayers, SayWhatTheyMiss) {
  const Variable x(Tensor::zeros(DType::f32, 2, 4));
  EXPECT_EQ(message_of([&] { Linear({.in_features = 4, .out_features = 3})(x); }),
            "Linear: weight: not trainable, expected initialise or load_parameters first");
}

}  // namespace
}  // namespace attn::nn
