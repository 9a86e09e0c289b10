// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <attn/error.hpp>
#include <attn/models/token_batch.hpp>
#include <attn/tensor.hpp>

#include "io/files.hpp"

namespace attn::models {
namespace {

using io::test::message_of;
using Ints = std::vector<std::int32_t>;

TEST(TokenBatch, LaysTextsEndToEnd) {
  TokenBatch batch;
  batch.add(Ints{7, 8, 9}, Ints{0, 1, 1});
  batch.add(std::vector<std::int32_t>());
  batch.add(Ints{4});
  EXPECT_EQ(batch.texts(), 3);
  EXPECT_EQ(batch.tokens(), 4);
  EXPECT_EQ(batch.ids(), (Ints{7, 8, 9, 4}));
  EXPECT_EQ(batch.types(), (Ints{0, 1, 1, 0}));
  EXPECT_EQ(batch.positions(), (Ints{0, 1, 2, 0}));
  EXPECT_EQ(batch.starts(), (Ints{0, 3, 3, 4}));
}

TEST(TokenBatch, LeavesPaddingOut) {
  const Tensor ids = Tensor::of<std::int64_t>({7, 8, 0, 0, 0, 0, 0, 9, 4}, 3, 3);
  const Tensor mask = Tensor::of<bool>({true, true, false, false, false, false, false, true, true}, 3, 3);
  const TokenBatch batch(PaddedTokens{.ids = ids, .mask = mask});
  EXPECT_EQ(batch.ids(), (Ints{7, 8, 9, 4}));
  EXPECT_EQ(batch.positions(), (Ints{0, 1, 1, 2}));
  EXPECT_EQ(batch.starts(), (Ints{0, 2, 2, 4}));
  const TokenBatch all(PaddedTokens{.ids = ids});
  EXPECT_EQ(all.tokens(), 9);
}

TEST(TokenBatch, NamesWhatItCannotTake) {
  const Tensor ids = Tensor::of<std::int64_t>({7, 8, 9, -1}, 2, 2), wide = Tensor::of<std::int64_t>({1, 1, 1}, 1, 3);
  const Tensor numbers = Tensor::of<float>({1, 1, 1, 1}, 2, 2), flat = Tensor::of<std::int32_t>({1, 2}, 2);
  const Tensor huge = Tensor::of<std::int64_t>({std::int64_t{1} << 40}, 1, 1);
  const auto padded = [](const PaddedTokens& tokens) { return message_of([&] { TokenBatch batch(tokens); }); };
  EXPECT_EQ(padded({}), "TokenBatch: ids: dtype none, expected i32 or i64");
  EXPECT_EQ(padded({.ids = numbers}), "TokenBatch: ids: dtype f32, expected i32 or i64");
  EXPECT_EQ(padded({.ids = flat}), "TokenBatch: ids: rank 1, expected 2: (batch, width)");
  EXPECT_EQ(padded({.ids = ids}), "TokenBatch: ids: -1 at (1, 1), expected 0 to 2147483647");
  EXPECT_EQ(padded({.ids = huge}), "TokenBatch: ids: 1099511627776 at (0, 0), expected 0 to 2147483647");
  EXPECT_EQ(padded({.ids = ids, .mask = wide}), "TokenBatch: mask: shape (1, 3), expected (2, 2) as of ids");
  EXPECT_EQ(padded({.ids = ids, .mask = numbers}), "TokenBatch: mask: dtype f32, expected boolean, u8, i32 or i64");
  EXPECT_EQ(padded({.ids = ids, .types = wide}), "TokenBatch: types: shape (1, 3), expected (2, 2) as of ids");
  EXPECT_EQ(message_of([] {
              TokenBatch batch;
              batch.add(Ints{1, 2}, Ints{0});
            }),
            "TokenBatch::add: types: 1 numbers, expected 2 as of ids");
}

}  // namespace
}  // namespace attn::models
