// SPDX-License-Identifier: Apache-2.0
#include <attn/nn/linear.hpp>

#include "gtest/gtest.h"
#include "support/tensors.hpp"

namespace attn::nn {
namespace {

using test::largest_difference;
using test::message_of;
using test::normal_tensor;

const Tensor kWeight = Tensor::of<float>({1, 2, 3, -1, 0, 1}, 2, 3);
const Tensor kBias = Tensor::of<float>({10, 20}, 2);

Linear loaded() {
  Linear layer({.in_features = 3, .out_features = 2});
  layer.load({{"proj.weight", kWeight}, {"proj.bias", kBias}}, "proj.");
  return layer;
}

TEST(Linear, MultipliesAnyRankAndLayout) {
  const Linear layer = loaded();
  const Tensor one = layer(Tensor::of<float>({1, 1, 1}, 3));
  EXPECT_EQ(largest_difference(one, Tensor::of<float>({16, 20}, 2)), 0);

  const Tensor x = normal_tensor(DType::f32, 1, 2, 4, 5, 3);
  const Tensor y = layer(x);
  EXPECT_EQ(y.rank(), 4);
  EXPECT_EQ(y.extent(3), 2);
  // The second and third dimensions exchanged: rows that no single stride walks along.
  const Tensor swapped = layer(x.view<float, 4>().transpose(1, 2));
  EXPECT_EQ((swapped.view<float, 4>()(1, 4, 3, 1)), (y.view<float, 4>()(1, 3, 4, 1)));
  const Tensor part = layer(x.view<float, 4>().slice(1, 1, 3));
  EXPECT_EQ((part.view<float, 4>()(1, 0, 2, 1)), (y.view<float, 4>()(1, 1, 2, 1)));
}

TEST(Linear, ActivationThenResidual) {
  const Tensor x = Tensor::of<float>({-20, 0, 0, 1, 0, 0}, 2, 3), rest = Tensor::of<float>({1, 2, 3, 4}, 2, 2);
  const Tensor y = loaded()(x, {.activation = Activation::relu, .residual = rest});
  EXPECT_EQ(largest_difference(y, Tensor::of<float>({1, 42, 14, 23}, 2, 2)), 0);
}

TEST(Linear, PacksAsItsShapeSays) {
  const Tensor x = Tensor::of<float>({1, 1, 1}, 1, 3);
  for (const WeightStorage storage : {WeightStorage::full, WeightStorage::bf16, WeightStorage::int8}) {
    Linear layer({.in_features = 3, .out_features = 2, .storage = storage});
    layer.load({{"weight", kWeight}, {"bias", kBias.to(DType::bf16)}});
    EXPECT_EQ(layer.weight().storage(), storage);
    EXPECT_EQ(layer.bias().dtype(), DType::f32);
    const Tensor y = layer(x);
    EXPECT_NEAR((y.view<float, 2>()(0, 0)), 16, 0.03);
  }
}

TEST(Linear, ComputesInTheWeightsPrecision) {
  Linear layer({.in_features = 3, .out_features = 2, .bias = false});
  layer.load({{"weight", kWeight.to(DType::f64)}});
  EXPECT_EQ(layer(Tensor::of<float>({1, 1, 1}, 3)).dtype(), DType::f64);
  layer.load({{"weight", kWeight.to(DType::bf16)}});
  EXPECT_EQ(layer(Tensor::of<double>({1, 1, 1}, 3)).dtype(), DType::f32);
}

TEST(Linear, Errors) {
  const Tensor x = Tensor::zeros(DType::f32, 2, 4);
  EXPECT_EQ(message_of([&] { loaded()(x); }), "Linear: x: shape (2, 4), expected (..., 3)");
  EXPECT_EQ(message_of([&] { loaded()(Tensor::zeros(DType::i32, 3)); }),
            "Linear: x: dtype i32, expected f32, f64, bf16 or f16");
  EXPECT_EQ(message_of([&] { loaded()(Tensor()); }), "Linear: x: dtype none, expected f32, f64, bf16 or f16");
  EXPECT_EQ(message_of([&] { Linear({.in_features = 4, .out_features = 2})(x); }), "Linear: weight: not loaded");
  EXPECT_EQ(message_of([&] { loaded()(Tensor::zeros(DType::f32, 1, 3), {.residual = x}); }),
            "Linear: residual: shape (2, 4), expected (1, 2) as the result");
}

}  // namespace
}  // namespace attn::nn
