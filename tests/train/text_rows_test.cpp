// SPDX-License-Identifier: Apache-2.0
#include "train/text_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/tensors.hpp"

namespace attn::train {
namespace {

TEST(TextRows, TrainingTakesAShareOfTheTokensForUnknownOnes) {
  TextRow row;
  for (std::vector<std::int32_t>& ids : row.ids) ids.assign(500, 7);
  TextRow shorter = row;
  for (std::vector<std::int32_t>& ids : shorter.ids) ids.resize(100);
  const std::vector<TextRow> rows{row, shorter};
  const models::TextBatch plain = batch_of(rows, {0, 1});
  nn::DropoutStream stream{.seed = 1}, same{.seed = 1};
  const models::TextBatch dropped = batch_of(rows, {0, 1}, 0.25, &stream), again = batch_of(rows, {0, 1}, 0.25, &same),
                          next = batch_of(rows, {0, 1}, 0.25, &stream);
  for (std::size_t s = 0; s < kStreams; ++s) {
    const auto ids = dropped.ids[s].values<std::int32_t>();
    const auto unknown = std::count(ids.begin(), ids.end(), Vocabulary::kUnknown);
    // 600 tokens, a quarter of them: four standard deviations of 10.6 either way.
    EXPECT_NEAR(static_cast<double>(unknown), 150, 43);
    EXPECT_EQ(std::count(ids.begin(), ids.end(), 7), 600 - unknown);
    EXPECT_EQ(std::count(ids.begin(), ids.end(), Vocabulary::kPadding), 400);
    EXPECT_TRUE(test::same_bits(dropped.ids[s], again.ids[s]));
    EXPECT_FALSE(test::same_bits(dropped.ids[s], next.ids[s]));
    EXPECT_TRUE(test::same_bits(batch_of(rows, {0, 1}, 0.25, nullptr).ids[s], plain.ids[s]));
  }
  EXPECT_FALSE(test::same_bits(dropped.ids[0], dropped.ids[1]));
}

}  // namespace
}  // namespace attn::train
