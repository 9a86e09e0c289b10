// SPDX-License-Identifier: Apache-2.0
#include <attn/nn/self_attention.hpp>

#include "gtest/gtest.h"
#include "support/tensors.hpp"

namespace attn::nn {
namespace {

using test::largest_difference;
using test::message_of;
using test::normal_tensor;
using test::same_bits;

// W as it is written in the example, (d_model, d), as the weight of a projection.
Tensor transposed(std::initializer_list<float> w) {
  const Tensor rows = Tensor::of<float>(w, 4, 2);
  Tensor weight = Tensor::empty(DType::f32, 2, 4);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 2; ++j) weight.view<float, 2>()(j, i) = rows.view<float, 2>()(i, j);
  }
  return weight;
}

// The worked example of the documentation.
SelfAttention worked_example() {
  SelfAttention layer({.d_model = 4, .d_k = 2, .d_v = 2, .bias = false});
  layer.load({{"query.weight", transposed({1, 0, 0, 1, 1, 1, 0, 0})},
              {"key.weight", transposed({0, 1, 1, 0, 0, 1, 1, 0})},
              {"value.weight", transposed({1, 0, 0, 1, 0, 0, 1, 1})}});
  return layer;
}
const Tensor kTokens = Tensor::of<float>({1, 0, 1, 0, 0, 1, 0, 1, 1, 1, 0, 0}, 3, 4);

TEST(SelfAttention, WorkedExample) {
  const auto [y, weights] = worked_example()(kTokens, {.need_weights = true});
  const float third = 1.0f / 3;
  const Tensor expected_weights =
      Tensor::of<float>({0.140029f, 0.575975f, 0.283995f, 0.575975f, 0.140029f, 0.283995f, third, third, third}, 3, 3);
  // The example is printed to six digits.
  EXPECT_LE(largest_difference(weights, expected_weights), 1e-6);
  EXPECT_LE(largest_difference(y, Tensor::of<float>({1, 1.435946f, 1, 0.564054f, 1, 1}, 3, 2)), 1e-6);
}

TEST(SelfAttention, ZeroOneMasksOfEveryDtypeKeep) {
  const SelfAttention layer = worked_example();
  const Tensor ones = Tensor::of<float>({1, 0, 0, 1, 1, 0, 1, 1, 1}, 3, 3);
  const Tensor y = layer(kTokens, {.attention = {.mask = Mask::causal()}}).y;
  EXPECT_LE(largest_difference(layer(kTokens, {.mask = ones}).y, y), 1e-6);
  for (const DType dtype : {DType::f64, DType::bf16, DType::f16}) {
    EXPECT_TRUE(same_bits(layer(kTokens, {.mask = ones.to(dtype)}).y, layer(kTokens, {.mask = ones}).y));
  }
  const Tensor words = Tensor::of<std::int64_t>({1, 0, 0, 1, 1, 0, 1, 1, 1}, 1, 3, 3);
  const Tensor ints = Tensor::of<std::int32_t>({1, 0, 0, 1, 1, 0, 1, 1, 1}, 3, 3);
  const Tensor bytes = Tensor::of<std::uint8_t>({1, 0, 0, 1, 1, 0, 1, 1, 1}, 3, 3);
  for (const Tensor& mask : {words, ints, bytes})
    EXPECT_TRUE(same_bits(layer(kTokens, {.mask = mask}).y, layer(kTokens, {.mask = ones}).y));
}

TEST(SelfAttention, ABatchEntryWithItsOwnMaskIsAsAlone) {
  SelfAttention layer({.d_model = 6});
  StateDict state;
  unsigned seed = 1;
  for (const std::string name : {"query", "key", "value"}) {
    state["attn." + name + ".weight"] = normal_tensor(DType::f32, seed++, 6, 6);
    state["attn." + name + ".bias"] = normal_tensor(DType::f32, seed++, 6);
  }
  layer.load(state, "attn.");
  const Tensor x = normal_tensor(DType::f32, 10, 2, 3, 6);
  const Tensor masks = Tensor::of<float>({1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1}, 2, 3, 3);
  const auto [y, weights] = layer(x, {.need_weights = true, .mask = masks});
  EXPECT_EQ((weights.view<float, 3>()(1, 1, 2)), 0);
  const SelfAttentionOutput alone =
      layer(x.view<float, 3>().select(0, 1), {.need_weights = true, .mask = masks.view<float, 3>().select(0, 1)});
  for (int i = 0; i < 3; ++i) {
    for (int c = 0; c < 6; ++c) EXPECT_EQ((alone.y.view<float, 2>()(i, c)), (y.view<float, 3>()(1, i, c)));
  }
}

TEST(SelfAttention, Errors) {
  const SelfAttention layer = worked_example();
  EXPECT_EQ(message_of([&] { layer(Tensor::zeros(DType::f32, 3, 5)); }),
            "SelfAttention: x: shape (3, 5), expected (batch, tokens, 4) or (tokens, 4)");
  EXPECT_EQ(message_of([&] { layer(kTokens, {.mask = Tensor::zeros(DType::f32, 2, 3)}); }),
            "SelfAttention: mask: shape (2, 3), expected (3, 3) or (1, 3, 3)");
  EXPECT_EQ(message_of([&] {
              layer(kTokens, {.mask = Tensor::of<float>({1, 1, 1, 1, -1e4f, 1, 1, 1, 1}, 3, 3)});
            }),
            "SelfAttention: mask: -10000 at 4, expected 0 or 1");
  EXPECT_EQ(message_of([&] {
              layer(kTokens, {.mask = Tensor::of<std::uint8_t>({255, 1, 1, 1, 1, 1, 1, 1, 1}, 3, 3)});
            }),
            "SelfAttention: mask: 255 at 0, expected 0 or 1");
  EXPECT_EQ(message_of([&] {
              layer(kTokens, {.mask = In<2>(DType::f32, nullptr, {3, 3}, {3, 1})});
            }),
            "SelfAttention: mask: null pointer, expected memory for (3, 3)");
  EXPECT_EQ(message_of([] { SelfAttention({.d_model = -1}); }),
            "SelfAttention: shape: d_model -1, d_k 0, d_v 0, expected 0 or more");
}

}  // namespace
}  // namespace attn::nn
