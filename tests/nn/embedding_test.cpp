// SPDX-License-Identifier: Apache-2.0
#include <attn/nn/embedding.hpp>

#include "gtest/gtest.h"
#include "support/tensors.hpp"

namespace attn::nn {
namespace {

using test::largest_difference;
using test::message_of;

TEST(Embedding, LooksUpEveryDtypeAndShape) {
  const Tensor table = Tensor::of<float>({0, 1, 10, 11, 20, 21}, 3, 2);
  const Tensor ids = Tensor::of<std::int64_t>({2, 0, 1, 2}, 2, 2);
  const Tensor expected = Tensor::of<float>({20, 21, 0, 1, 10, 11, 20, 21}, 2, 2, 2);
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
    Embedding layer({.num_embeddings = 3, .embedding_dim = 2});
    layer.load({{"word.weight", table.to(dtype)}}, "word.");
    EXPECT_EQ(layer(ids).dtype(), dtype == DType::f64 ? DType::f64 : DType::f32);
    EXPECT_EQ(largest_difference(layer(ids), expected), 0);
    const Tensor transposed = layer(ids.view<std::int64_t, 2>().transpose(0, 1));
    EXPECT_EQ(test::values_of(transposed)[2], 10);
    EXPECT_EQ(test::values_of(layer(Tensor::of<std::int32_t>({1}, 1)))[1], 11);
  }
}

TEST(Embedding, Errors) {
  Embedding layer({.num_embeddings = 3, .embedding_dim = 2});
  const Tensor ids = Tensor::of<std::int64_t>({0, 3}, 2);
  EXPECT_EQ(message_of([&] { layer(ids); }), "Embedding: weight: not loaded");
  layer.load({{"weight", Tensor::zeros(DType::f32, 3, 2)}});
  EXPECT_EQ(message_of([&] { layer(ids); }), "Embedding: ids: 3 at 1, expected 0 to 2");
  EXPECT_EQ(message_of([&] { layer(In<1>(DType::i32, nullptr, {2}, {1})); }),
            "Embedding: ids: null pointer, expected memory for (2)");
  EXPECT_EQ(message_of([&] { layer(Tensor::zeros(DType::f32, 2)); }), "Embedding: ids: dtype f32, expected i32 or i64");
}

}  // namespace
}  // namespace attn::nn
