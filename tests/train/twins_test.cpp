// SPDX-License-Identifier: Apache-2.0
// The trained models beside their twins in PyTorch: the same weights, the same batch, and the same fall of the loss.
// script/goldens/train_goldens.py made the numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <attn/autograd/loss.hpp>
#include <attn/io/safetensors.hpp>
#include <attn/models.hpp>
#include <attn/nn.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/test_data.hpp"

namespace attn::train {
namespace {

using nlohmann::json;

constexpr models::TransformerShape kBefore{.width = 16, .layers = 2, .heads = 2, .feedforward = 32};
constexpr models::TransformerShape kAfter{
    .width = 16, .layers = 2, .heads = 2, .feedforward = 32, .norm = models::NormPlace::after};

struct Twin {
  json batch;
  std::vector<double> losses;
  nn::StateDict weights;
  Tensor pixels;

  explicit Twin(const std::string& name) {
    const json cases = json::parse(std::ifstream(test::test_data("train/cases.json"))).at("cases");
    batch = cases.at(name).at("batch");
    losses = cases.at(name).at("losses").get<std::vector<double>>();
    const auto file = io::SafeTensors::open(test::test_data("train/" + name + ".safetensors"));
    for (const std::string& tensor : file.names()) {
      if (tensor == "batch.pixels") {
        pixels = file.tensor(tensor);
      } else {
        weights.emplace(tensor, file.tensor(tensor));
      }
    }
  }

  std::vector<std::int32_t> lengths() const { return batch.at("lengths").get<std::vector<std::int32_t>>(); }

  // Numbers in rows, or in one row.
  Tensor integers(const char* name) const {
    const json& rows = batch.at(name);
    const bool is_flat = !rows[0].is_array();
    std::vector<std::int32_t> all;
    for (const json& row : rows) {
      for (const json& n : is_flat ? json::array({row}) : row) all.push_back(n.get<std::int32_t>());
    }
    const auto count = std::ssize(rows);
    Tensor t = is_flat ? Tensor::empty(DType::i32, count) : Tensor::empty(DType::i32, count, std::ssize(rows[0]));
    std::copy(all.begin(), all.end(), t.values<std::int32_t>().begin());
    return t;
  }
};

// Trains as train::fit does, and compares every loss.
template <class Model, class Loss>
void expect_same_losses(Model& model, const Twin& twin, const Loss& loss_of, double tolerance = 2e-4) {
  nn::load_parameters(model, twin.weights);
  const nn::ParameterList all = nn::parameters(model);
  nn::ParameterList matrices, vectors;
  for (const nn::NamedParameter& p : all) (p.variable.shape().size() > 1 ? matrices : vectors).push_back(p);
  nn::AdamW decayed(matrices, {.lr = 1e-2, .weight_decay = 0.05}), plain(vectors, {.lr = 1e-2});
  for (const double expected : twin.losses) {
    decayed.zero_grad();
    plain.zero_grad();
    const nn::Variable loss = loss_of();
    EXPECT_NEAR(static_cast<double>(loss.value().values<float>()[0]), expected, tolerance * expected);
    loss.backward();
    nn::clip_grad_norm(all, 1);
    decayed.step();
    plain.step();
  }
}

TEST(Twins, ImagesFollowPyTorch) {
  const Twin twin("images");
  models::VisionTransformer model({.patch_size = 7, .transformer = kBefore});
  expect_same_losses(model, twin, [&] { return nn::cross_entropy(model(twin.pixels), twin.integers("labels")); });
}

models::TextBatch texts_of(const Twin& twin) {
  return {.ids = {twin.integers("ids"), twin.integers("more_ids")}, .lengths = twin.lengths()};
}

TEST(Twins, ReviewsFollowPyTorch) {
  const Twin twin("reviews");
  models::TextEncoder model({.vocabularies = {11, 5}, .max_tokens = 8, .classes = 3, .transformer = kAfter});
  expect_same_losses(model, twin,
                     [&] { return nn::cross_entropy(model.classify_texts(texts_of(twin)), twin.integers("labels")); });
}

TEST(Twins, TaggingFollowsPyTorch) {
  const Twin twin("tagging");
  models::TextEncoder model({.vocabularies = {11, 5}, .max_tokens = 8, .classes = 3, .transformer = kAfter});
  expect_same_losses(model, twin,
                     [&] { return nn::cross_entropy(model.classify_tokens(texts_of(twin)), twin.integers("tags")); });
}

TEST(Twins, LanguageFollowsPyTorch) {
  const Twin twin("language");
  models::LanguageModel model({.vocabulary = 11, .max_tokens = 8, .transformer = kBefore});
  expect_same_losses(model, twin,
                     [&] { return nn::cross_entropy(model(twin.integers("ids")), twin.integers("next")); });
}

TEST(Twins, TranslationFollowsPyTorch) {
  const Twin twin("translation");
  models::EncoderDecoder model({.vocabulary = 11, .max_tokens = 8, .transformer = kBefore});
  const std::vector<std::int32_t> lengths = twin.lengths();
  expect_same_losses(model, twin, [&] {
    const nn::Variable memory = model.encode(twin.integers("ids"), lengths);
    return nn::cross_entropy(model.decode(twin.integers("target"), memory, lengths), twin.integers("next"));
  });
}

// f32 weights under activations of 16 bits. Two layers round a number some twenty times, to either side, which adds up
// to about the square root of that.
TEST(Twins, SixteenBitActivationsFollowPyTorch) {
  for (const auto& [dtype, rounding] : {std::pair{DType::bf16, 0x1p-8}, std::pair{DType::f16, 0x1p-11}}) {
    models::TransformerShape shape = kBefore;
    shape.activations = dtype;
    const Twin images("images"), pairs("translation");
    models::VisionTransformer vision({.patch_size = 7, .transformer = shape});
    const auto of_images = [&] { return nn::cross_entropy(vision(images.pixels), images.integers("labels")); };
    expect_same_losses(vision, images, of_images, 4 * rounding);
    models::EncoderDecoder translator({.vocabulary = 11, .max_tokens = 8, .transformer = shape});
    const std::vector<std::int32_t> lengths = pairs.lengths();
    const auto of_pairs = [&] {
      const nn::Variable memory = translator.encode(pairs.integers("ids"), lengths);
      return nn::cross_entropy(translator.decode(pairs.integers("target"), memory, lengths), pairs.integers("next"));
    };
    expect_same_losses(translator, pairs, of_pairs, 4 * rounding);
  }
}

TEST(Twins, ModelsRefuseWhatDoesNotFit) {
  EXPECT_THROW(models::VisionTransformer({.patch_size = 5}), Error);
  EXPECT_THROW(models::TextEncoder({}), Error);
  models::LanguageModel model({.vocabulary = 4, .max_tokens = 2, .transformer = kBefore});
  nn::initialise(model);
  EXPECT_THROW(model(Tensor::zeros(DType::i32, 1, 3)), Error);
  EXPECT_THROW(model(Tensor::of<std::int32_t>({4}, 1, 1)), Error);
}

}  // namespace
}  // namespace attn::train
