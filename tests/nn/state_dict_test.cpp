// SPDX-License-Identifier: Apache-2.0
#include <attn/nn/linear.hpp>
#include <attn/nn/state_dict.hpp>

#include "gtest/gtest.h"
#include "support/tensors.hpp"

namespace attn::nn {
namespace {

using test::message_of;

TEST(StateReader, NamesEverythingThatIsWrong) {
  const StateDict state = {{"layer.0.a", Tensor::zeros(DType::f32, 3, 4)},
                           {"layer.0.inner.b", Tensor::zeros(DType::i32, 4)},
                           {"layer.0.inner.good", Tensor::zeros(DType::f16, 4)}};
  StateReader reader(state, "layer.0.");
  EXPECT_FALSE(reader.take("a", {4, 4}).has_value());
  StateReader inner = reader.within("inner.");
  EXPECT_FALSE(inner.take("b", {4}).has_value());
  EXPECT_TRUE(inner.take("good", {4}).has_value());
  EXPECT_TRUE(inner.contains("b"));
  EXPECT_FALSE(inner.contains("c"));
  EXPECT_FALSE(inner.take("c", {2, 2}).has_value());
  EXPECT_EQ(message_of([&] { reader.finish(); }),
            "state dict: layer.0.a: shape (3, 4), expected (4, 4); "
            "layer.0.inner.b: dtype i32, expected f32, f64, bf16 or f16; "
            "layer.0.inner.c: missing, expected shape (2, 2)");
}

TEST(StateReader, AFailedLoadChangesNothing) {
  Linear layer({.in_features = 1, .out_features = 1});
  layer.load({{"weight", Tensor::of<float>({2}, 1, 1)}, {"bias", Tensor::of<float>({1}, 1)}});
  EXPECT_NE(message_of([&] { layer.load({{"weight", Tensor::of<float>({5}, 1, 1)}}); }), "no error");
  EXPECT_EQ(test::values_of(layer(Tensor::of<float>({3}, 1)))[0], 7);
}

}  // namespace
}  // namespace attn::nn
