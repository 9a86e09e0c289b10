// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <attn/error.hpp>
#include <attn/train/batches.hpp>

namespace attn::train {
namespace {

std::vector<std::ptrdiff_t> some_lengths() {
  std::vector<std::ptrdiff_t> lengths;
  for (std::ptrdiff_t i = 0; i < 1000; ++i) lengths.push_back(1 + i * 7919 % 97);
  return lengths;
}

Batch all_of(const std::vector<Batch>& batches) {
  Batch all;
  for (const Batch& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  std::sort(all.begin(), all.end());
  return all;
}

TEST(Batches, HoldEveryExampleOnceWithinTheLimits) {
  const std::vector<std::ptrdiff_t> lengths = some_lengths();
  const BatchOptions options{.size = 32, .tokens = 640, .pool = 4};
  const std::vector<Batch> batches = make_batches(lengths, 1, 0, options);
  const Batch all = all_of(batches);
  ASSERT_EQ(all.size(), lengths.size());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], i);
  for (const Batch& batch : batches) {
    std::ptrdiff_t longest = 0;
    for (const std::size_t item : batch) longest = std::max(longest, lengths[item]);
    EXPECT_LE(std::ssize(batch), 32);
    EXPECT_LE(longest * std::ssize(batch), 640);
  }
}

TEST(Batches, FollowFromSeedAndEpoch) {
  const std::vector<std::ptrdiff_t> lengths = some_lengths();
  EXPECT_EQ(make_batches(lengths, 3, 5), make_batches(lengths, 3, 5));
  EXPECT_NE(make_batches(lengths, 3, 5), make_batches(lengths, 3, 6));
  EXPECT_NE(make_batches(lengths, 3, 5), make_batches(lengths, 4, 5));
  // The same on every machine, for ever: a checkpoint only names seed and epoch.
  const std::ptrdiff_t ones[] = {1, 1, 1, 1, 1, 1, 1, 1};
  EXPECT_EQ(make_batches(ones, 1, 0, {.size = 8})[0], (Batch{0, 5, 2, 7, 3, 4, 1, 6}));
}

TEST(Batches, PadLittle) {
  const std::vector<std::ptrdiff_t> lengths = some_lengths();
  std::ptrdiff_t padded = 0, needed = 0;
  for (const Batch& batch : make_batches(lengths, 1, 0, {.size = 16})) {
    std::ptrdiff_t longest = 0;
    for (const std::size_t item : batch) longest = std::max(longest, lengths[item]);
    for (const std::size_t item : batch) needed += lengths[item];
    padded += longest * std::ssize(batch);
  }
  EXPECT_LT(static_cast<double>(padded), 1.1 * static_cast<double>(needed));
}

TEST(Batches, ALongExampleMakesABatchByItself) {
  const std::ptrdiff_t lengths[] = {100, 2, 2};
  const std::vector<Batch> batches = make_even_batches(lengths, {.size = 8, .tokens = 10});
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_EQ(batches[0], (Batch{1, 2}));
  EXPECT_EQ(batches[1], Batch{0});
}

TEST(Batches, OfNothingAreNone) { EXPECT_TRUE(make_batches({}, 1, 0).empty()); }

TEST(Batches, FillUpToTheLongest) {
  const std::vector<std::vector<std::int32_t>> rows{{5}, {}, {6, 7}};
  const Tensor ids = padded(rows, 9);
  ASSERT_EQ(ids.extent(0), 3);
  ASSERT_EQ(ids.extent(1), 2);
  const std::span<const std::int32_t> values = ids.values<std::int32_t>();
  EXPECT_EQ((std::vector<std::int32_t>{values.begin(), values.end()}), (std::vector<std::int32_t>{5, 9, 9, 9, 6, 7}));
  EXPECT_EQ(padded({}, 9).size(), 0);
}

TEST(Batches, RefuseOptionsOutOfRange) {
  EXPECT_THROW(make_batches({}, 1, 0, {.size = 0}), Error);
  EXPECT_THROW(make_batches({}, 1, 0, {.tokens = -1}), Error);
  EXPECT_THROW(make_even_batches({}, {.pool = -1}), Error);
}

}  // namespace
}  // namespace attn::train
