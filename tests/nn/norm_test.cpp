// SPDX-License-Identifier: Apache-2.0
#include <attn/nn/norm.hpp>

#include "gtest/gtest.h"
#include "support/tensors.hpp"

namespace attn::nn {
namespace {

using test::message_of;
using test::values_of;

TEST(Norms, NormaliseTheLastDimension) {
  const StateDict state = {{"weight", Tensor::of<float>({1, 2}, 2)}, {"bias", Tensor::of<float>({0, 5}, 2)}};
  LayerNorm layer({.features = 2, .eps = 0});
  RMSNorm rms({.features = 2, .eps = 0});
  layer.load(state);
  rms.load(state);
  const Tensor x = Tensor::of<float>({1, 3, 3, -4}, 2, 1, 2);
  const std::vector<double> centred = values_of(layer(x)), scaled = values_of(rms(x));
  EXPECT_EQ(layer(x).rank(), 3);
  EXPECT_NEAR(centred[0], -1, 1e-6);
  EXPECT_NEAR(centred[1], 7, 1e-6);
  EXPECT_NEAR(scaled[2], 3 / std::sqrt(12.5), 1e-6);
  EXPECT_NEAR(scaled[3], -8 / std::sqrt(12.5), 1e-6);
  EXPECT_EQ(layer(x.to(DType::f64)).dtype(), DType::f64);
  EXPECT_EQ(layer(x.to(DType::bf16)).dtype(), DType::f32);
}

TEST(Norms, Errors) {
  LayerNorm layer({.features = 2});
  EXPECT_EQ(message_of([&] { layer(Tensor::zeros(DType::f32, 2)); }), "LayerNorm: weight: not loaded");
  layer.load({{"weight", Tensor::zeros(DType::f32, 2)}, {"bias", Tensor::zeros(DType::f32, 2)}});
  EXPECT_EQ(message_of([&] { layer(Tensor::zeros(DType::f32, 2, 3)); }),
            "LayerNorm: x: shape (2, 3), expected (..., 2)");
  EXPECT_EQ(message_of([&] { RMSNorm({.features = 2, .eps = -1}); }), "RMSNorm: eps: -1, expected 0 or more");
}

}  // namespace
}  // namespace attn::nn
