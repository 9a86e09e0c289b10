// SPDX-License-Identifier: Apache-2.0
#include "train/trigram.hpp"

#include <gtest/gtest.h>

namespace attn::train {
namespace {

TEST(Trigrams, ChancesSumToOneAfterAnything) {
  Trigrams trigrams(6);
  trigrams.learn(std::vector<std::int32_t>{0, 1, 2, 3, 1, 2, 4});
  trigrams.learn(std::vector<std::int32_t>{0, 1, 2, 3});
  const std::vector<std::vector<std::int32_t>> contexts{{0}, {0, 1}, {1, 2}, {5, 5}, {3, 1}, {4, 2}};
  for (std::vector<std::int32_t> text : contexts) {
    double sum = 0;
    text.push_back(0);
    for (std::int32_t token = 0; token < 6; ++token) {
      text.back() = token;
      sum += trigrams.chance(text, text.size() - 1);
    }
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

TEST(Trigrams, TwoTokensSayMoreThanOne) {
  Trigrams trigrams(6);
  trigrams.learn(std::vector<std::int32_t>{0, 1, 2, 3, 4, 2, 5});
  EXPECT_GT(trigrams.chance(std::vector<std::int32_t>{0, 1, 2, 3}, 3),
            trigrams.chance(std::vector<std::int32_t>{0, 4, 2, 3}, 3));
  // By hand: nothing is known of {4}, {5} before 3; of single tokens 3 was seen once among 6.
  EXPECT_DOUBLE_EQ(trigrams.chance(std::vector<std::int32_t>{5, 3}, 1), 2.0 / 12);
}

}  // namespace
}  // namespace attn::train
