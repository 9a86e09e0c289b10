// SPDX-License-Identifier: Apache-2.0
#include "kernels/philox.hpp"

#include "gtest/gtest.h"

namespace attn::kernels {
namespace {

// Known answers of Philox4x32-10 published with Random123 (D. E. Shaw Research, file kat_vectors): facts, not code.
static_assert(philox4x32_10({0, 0, 0, 0}, {0, 0}) == PhiloxCounter{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u});
static_assert(philox4x32_10({0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu}, {0xffffffffu, 0xffffffffu}) ==
              PhiloxCounter{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu});
static_assert(philox4x32_10({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, {0xa4093822u, 0x299f31d0u}) ==
              PhiloxCounter{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u});

TEST(Philox, RunTimeEqualsCompileTime) {
  volatile std::uint32_t zero = 0;
  const std::uint32_t z = zero;
  EXPECT_EQ(philox4x32_10({z, z, z, z}, {z, z}), (PhiloxCounter{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}));
}

TEST(DropoutRule, ThresholdAndFactor) {
  EXPECT_EQ(DropoutRule(0, 1, 2).threshold(), 0u);
  EXPECT_EQ(DropoutRule(0.5, 1, 2).threshold(), std::uint64_t{1} << 31);
  EXPECT_EQ(DropoutRule(1, 1, 2).threshold(), std::uint64_t{1} << 32);
  EXPECT_EQ(DropoutRule(0x1p-33, 1, 2).threshold(), 1u);  // half rounds up
  EXPECT_EQ(DropoutRule(0x1p-34, 1, 2).threshold(), 0u);
  EXPECT_EQ(DropoutRule(0.75, 1, 2).survivor_factor(), 4);
  EXPECT_EQ(DropoutRule(1, 1, 2).survivor_factor(), 0);
}

TEST(DropoutRule, KeepsTheStatedShareAndDependsOnEveryCoordinate) {
  const DropoutRule rule(0.3, 42, 7);
  int kept = 0;
  for (int i = 0; i < 100; ++i) {
    for (int j = 0; j < 100; ++j) kept += rule.keeps(1, 2, i, j);
  }
  EXPECT_NEAR(kept, 7000, 200);  // over four standard deviations of the binomial
  const auto words = rule.words(1, 2, 3, 4);
  EXPECT_NE(words, rule.words(2, 2, 3, 4));
  EXPECT_NE(words, rule.words(1, 3, 3, 4));
  EXPECT_NE(words, rule.words(1, 2, 4, 4));
  EXPECT_NE(words, rule.words(1, 2, 3, 5));
  EXPECT_NE(words, DropoutRule(0.3, 43, 7).words(1, 2, 3, 4));
  EXPECT_NE(words, DropoutRule(0.3, 42, 8).words(1, 2, 3, 4));
  EXPECT_NE(words, DropoutRule(0.3, 42, 7 | std::uint64_t{1} << 40).words(1, 2, 3, 4));
}

TEST(DropoutRule, PairIsOneWordOfItsQuad) {
  const DropoutRule rule(0.5, 9, 9);
  for (int j = 0; j < 64; ++j) {
    EXPECT_EQ(rule.keeps(0, 1, 2, j), rule.words(0, 1, 2, j / 4)[static_cast<std::size_t>(j % 4)] >= 1u << 31);
  }
}

}  // namespace
}  // namespace attn::kernels
