// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <attn/draw/value_range.hpp>
#include <attn/tensor.hpp>
#include <cmath>
#include <limits>

#include "draw/matrix.hpp"
#include "draw/ticks.hpp"

namespace attn::draw {
namespace {

ValueRange range_of(std::initializer_list<float> values) {
  const Tensor t = Tensor::of<float>(values, 1, values.size());
  const In<2> in = t;
  return value_range_of({&in, 1});
}

TEST(ValueRange, StartsAtZeroAndCountsFiniteValuesOnly) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(range_of({0.25f, 0.5f}).min, 0);
  EXPECT_EQ(range_of({0.25f, 0.5f}).max, 0.5);
  EXPECT_EQ(range_of({-2, 3}).min, -2);
  EXPECT_EQ(range_of({-2, -1}).max, 0);
  EXPECT_EQ(range_of({-inf, inf, std::nanf(""), 4}).max, 4);
  EXPECT_EQ(range_of({-inf, inf, std::nanf(""), 4}).min, 0);
  EXPECT_EQ(range_of({0, 0}).max, 1);
  EXPECT_EQ(value_range_of({}).max, 1);
}

TEST(ValueRange, IsOneForAllMatrices) {
  const Tensor a = Tensor::of<float>({1, 2}, 1, 2), b = Tensor::of<float>({-5, 0, 7, 1}, 2, 2);
  const In<2> both[] = {a, b};
  EXPECT_EQ(value_range_of(both).min, -5);
  EXPECT_EQ(value_range_of(both).max, 7);
}

TEST(ValueRange, PlacesValues) {
  EXPECT_EQ(place_on({-1, 3}, 0), 0.25);
  EXPECT_EQ(place_on({-1, 3}, 9), 1);
  EXPECT_EQ(place_on({-1, 3}, -std::numeric_limits<double>::infinity()), 0);
  EXPECT_TRUE(std::isnan(place_on({-1, 3}, std::nan(""))));
}

std::string text_of(const std::vector<Tick>& ticks) {
  std::string text;
  for (const Tick& tick : ticks) text += tick.text + " ";
  return text;
}

TEST(Ticks, AreRoundAndHoldBothEnds) {
  EXPECT_EQ(text_of(ticks_of({0, 1}, 0.05)), "0 0.2 0.4 0.6 0.8 1 ");
  EXPECT_EQ(text_of(ticks_of({0, 0.908}, 0.05)), "0 0.2 0.4 0.6 0.8 0.908 ");
  EXPECT_EQ(text_of(ticks_of({0, 0.81}, 0.05)), "0 0.2 0.4 0.6 0.81 ");
  EXPECT_EQ(text_of(ticks_of({-2, 1}, 0.05)), "-2 -1 0 1 ");
  EXPECT_EQ(text_of(ticks_of({0, 3e-5}, 0.05)), "0 1e-05 2e-05 3e-05 ");
  EXPECT_EQ(text_of(ticks_of({0, 1}, 0.4)), "0 0.5 1 ");
  EXPECT_EQ(text_of(ticks_of({0, 1}, 0.6)), "0 1 ");
}

TEST(Ticks, KeepTheirDistanceAndTheirPlace) {
  const ValueRange ranges[] = {{0, 1}, {0, 0.37}, {-13, 99}, {1e6, 1e6 + 3}, {0, 3e38}, {0, 1e-40}, {-1e-3, 0}};
  for (const ValueRange& range : ranges) {
    const std::vector<Tick> ticks = ticks_of(range, 0.07);
    ASSERT_GE(ticks.size(), 2u);
    EXPECT_LE(ticks.size(), 8u);
    for (std::size_t i = 1; i < ticks.size(); ++i) EXPECT_GE(ticks[i].place - ticks[i - 1].place, 0.07 - 1e-9);
    for (const Tick& tick : ticks) {
      EXPECT_NEAR(std::stod(tick.text), range.min + tick.place * (range.max - range.min),
                  0.006 * std::max(std::abs(range.min), std::abs(range.max)));
    }
  }
}

TEST(Ticks, RoundStep) {
  EXPECT_EQ(round_step(0), 1);
  EXPECT_EQ(round_step(1), 1);
  EXPECT_EQ(round_step(1.01), 2);
  EXPECT_EQ(round_step(3), 5);
  EXPECT_EQ(round_step(51), 100);
}

}  // namespace
}  // namespace attn::draw
