// SPDX-License-Identifier: Apache-2.0
#include <attn/nn/positions.hpp>

#include "gtest/gtest.h"
#include "support/tensors.hpp"

namespace attn::nn {
namespace {

using test::largest_difference;
using test::message_of;

TEST(SinusoidalPositions, SineAndCosineInTurn) {
  const Tensor table = sinusoidal_positions(3, 5, DType::f64, 1);
  const View<const double, 2> at = table.view<double, 2>();
  EXPECT_NEAR(at(0, 0), std::sin(1.0), 1e-15);
  EXPECT_NEAR(at(0, 1), std::cos(1.0), 1e-15);
  EXPECT_NEAR(at(2, 2), std::sin(3 / std::pow(10000.0, 0.4)), 1e-15);
  EXPECT_NEAR(at(2, 3), std::cos(3 / std::pow(10000.0, 0.4)), 1e-15);
  EXPECT_NEAR(at(1, 4), std::sin(2 / std::pow(10000.0, 0.8)), 1e-15);
  EXPECT_LE(largest_difference(sinusoidal_positions(3, 5, DType::f32, 1), table), 6e-8);
  EXPECT_EQ(message_of([] { sinusoidal_positions(1, 2, DType::bf16); }),
            "sinusoidal_positions: dtype: bf16, expected f32 or f64");
}

TEST(LearnedPositions, AddsARowToEachToken) {
  LearnedPositions layer({.max_tokens = 3, .dim = 2});
  const Tensor x = Tensor::of<float>({1, 1, 2, 2, 3, 3, 4, 4}, 2, 2, 2);
  EXPECT_EQ(message_of([&] { layer(x); }), "LearnedPositions: weight: not loaded");
  layer.load({{"pos.weight", Tensor::of<float>({10, 20, 30, 40, 50, 60}, 3, 2)}}, "pos.");
  EXPECT_EQ(largest_difference(layer(x), Tensor::of<float>({11, 21, 32, 42, 13, 23, 34, 44}, 2, 2, 2)), 0);
  EXPECT_EQ(layer(x.to(DType::f64)).dtype(), DType::f64);
  EXPECT_EQ(message_of([&] { layer(Tensor::zeros(DType::f32, 4, 2)); }),
            "add_positions: x: shape (4, 2), expected (..., at most 3 tokens, 2)");
}

}  // namespace
}  // namespace attn::nn
