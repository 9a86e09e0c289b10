// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference/attention.hpp"

#include <attn/view.hpp>
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "kernels/philox.hpp"

namespace attn::kernels::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

void expect_near(const std::vector<double>& found, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isinf(expected[i])) {
      EXPECT_EQ(found[i], expected[i]) << "at " << i;
    } else {
      EXPECT_NEAR(found[i], expected[i], tolerance) << "at " << i;
    }
  }
}

// One head of scalars: query 1, keys 0, ln 2, ln 4, so that softmax gives 1/7, 2/7, 4/7; values 7, 14, 28.
struct Scalars {
  double q[3]{1, 1, 1};
  double k[3]{0, std::log(2), std::log(4)};
  double v[3]{7, 14, 28};
  std::vector<Entry> entries{{.batch = 0, .q_begin = 0, .queries = 1, .k_begin = 0, .keys = 3}};
  AttentionInputs inputs(std::ptrdiff_t queries = 1) const {
    return {.q = view(q, 1, 1, queries, 1), .k = view(k, 1, 1, 3, 1), .v = view(v, 1, 1, 3, 1), .entries = entries};
  }
};

TEST(ReferenceAttention, WorkedExample) {
  const double q[]{2, 1, 0, 1, 1, 1}, k[]{0, 2, 2, 0, 1, 1}, v[]{1, 0, 1, 2, 1, 1};
  const std::vector<Entry> entries{{.batch = 0, .q_begin = 0, .queries = 3, .k_begin = 0, .keys = 3}};
  const auto result = attention({.q = view(q, 1, 1, 3, 2),
                                 .k = view(k, 1, 1, 3, 2),
                                 .v = view(v, 1, 1, 3, 2),
                                 .entries = entries,
                                 .scale = 1 / std::sqrt(2.0)});
  expect_near(result.scaled, {1.4142, 2.8284, 2.1213, 1.4142, 0, 0.7071, 1.4142, 1.4142, 1.4142}, 5e-5);
  expect_near(result.weights, {0.140029, 0.575975, 0.283995, 0.575975, 0.140029, 0.283995, 1 / 3.0, 1 / 3.0, 1 / 3.0},
              5e-7);
  expect_near(result.out, {1, 1.435946, 1, 0.564054, 1, 1}, 5e-7);
}

TEST(ReferenceAttention, WeightsLseAndOutput) {
  const Scalars scalars;
  const auto result = attention(scalars.inputs());
  expect_near(result.weights, {1 / 7.0, 2 / 7.0, 4 / 7.0}, 1e-15);
  expect_near(result.out, {1 + 4 + 16}, 1e-13);
  expect_near(result.lse, {std::log(7)}, 1e-15);
}

TEST(ReferenceAttention, StepsInOrder) {
  const Scalars scalars;
  const double bias[]{0.5, -kInfinity, -0.25}, slope[]{0.125};
  AttentionInputs inputs = scalars.inputs();
  inputs.scale = 2;
  inputs.softcap = 1.5;
  inputs.bias = view(bias, 1, 1, 1, 3);
  inputs.alibi = view(slope, 1);
  inputs.position = [](std::ptrdiff_t, std::ptrdiff_t i) { return i + 2; };
  const auto result = attention(inputs);
  const double capped[]{0, 1.5 * std::tanh(2 * std::log(2) / 1.5), 1.5 * std::tanh(2 * std::log(4) / 1.5)};
  expect_near(result.scaled, {0, 2 * std::log(2), 2 * std::log(4)}, 1e-15);
  expect_near(result.capped, {capped[0], capped[1], capped[2]}, 1e-15);
  expect_near(result.masked, {0.5 - 0.25, -kInfinity, capped[2] - 0.25}, 1e-15);
}

TEST(ReferenceAttention, MaskSinkAndEmptyRow) {
  const Scalars scalars;
  AttentionInputs inputs = scalars.inputs();
  const double sink[]{std::log(5)};
  inputs.sink = view(sink, 1);
  inputs.visible = [](auto, auto, auto, std::ptrdiff_t j) { return j != 1; };
  auto result = attention(inputs);
  expect_near(result.weights, {1 / 10.0, 0, 4 / 10.0}, 1e-15);
  expect_near(result.lse, {std::log(10)}, 1e-15);
  expect_near(result.out, {0.7 + 11.2}, 1e-14);

  inputs.visible = [](auto...) { return false; };
  result = attention(inputs);
  expect_near(result.out, {0}, 0);
  expect_near(result.lse, {std::log(5)}, 1e-15);
  inputs.sink = {};
  expect_near(attention(inputs).lse, {-kInfinity}, 0);
}

TEST(ReferenceAttention, ScoresOfMinusInfinityAloneMakeAnEmptyRow) {
  Scalars scalars;
  for (double& x : scalars.k) x = -kInfinity;
  const auto result = attention(scalars.inputs());
  expect_near(result.out, {0}, 0);
  expect_near(result.lse, {-kInfinity}, 0);
}

TEST(ReferenceAttention, NaNReachesTheOutputOnlyWhereVisible) {
  Scalars scalars;
  scalars.v[1] = kNaN;
  scalars.k[1] = kNaN;
  AttentionInputs inputs = scalars.inputs();
  EXPECT_TRUE(std::isnan(attention(inputs).out[0]));
  inputs.visible = [](auto, auto, auto, std::ptrdiff_t j) { return j != 1; };
  expect_near(attention(inputs).out, {7 / 5.0 + 28 * 4 / 5.0}, 1e-14);
}

TEST(ReferenceAttention, EntriesOutsideOfWhichNothingIsRead) {
  Scalars scalars;
  scalars.k[0] = scalars.v[0] = kNaN;
  scalars.entries = {{.batch = 0, .q_begin = 1, .queries = 1, .k_begin = 1, .keys = 2}};
  const auto result = attention(scalars.inputs(3));
  expect_near(result.out, {0, 14 / 3.0 + 28 * 2 / 3.0, 0}, 1e-14);
  expect_near(result.lse, {-kInfinity, std::log(6), -kInfinity}, 1e-15);
  expect_near(result.weights, {0, 0, 0, 0, 1 / 3.0, 2 / 3.0, 0, 0, 0}, 1e-15);
  expect_near(std::vector<double>(result.scaled.begin() + 3, result.scaled.begin() + 6),
              {-kInfinity, std::log(2), std::log(4)}, 1e-15);
}

TEST(ReferenceAttention, DropoutScalesSurvivorsAndLeavesWeights) {
  const Scalars scalars;
  AttentionInputs inputs = scalars.inputs();
  inputs.dropout_p = 0.5;
  inputs.dropout_seed = 3;
  double expected = 0;
  const DropoutRule rule(0.5, 3, 0);
  for (int j = 0; j < 3; ++j) expected += rule.keeps(0, 0, 0, j) ? 2 * std::exp(scalars.k[j]) / 7 * scalars.v[j] : 0;
  const auto result = attention(inputs);
  expect_near(result.out, {expected}, 1e-13);
  expect_near(result.weights, {1 / 7.0, 2 / 7.0, 4 / 7.0}, 1e-15);
  inputs.dropout_p = 1;
  expect_near(attention(inputs).out, {0}, 0);
}

TEST(ReferenceAttention, GroupedHeadsStridesAndDtypes) {
  // Query heads 0, 1 read kv head 0 and 2, 3 read kv head 1; keys are walked backwards; v is bf16.
  const float q[]{1, 2, 3, 4};
  const double k[]{0, 0, 0, 0};
  const bf16 v[]{to_bf16(1.0), to_bf16(3.0), to_bf16(10.0), to_bf16(30.0)};
  const std::vector<Entry> entries{{.batch = 0, .q_begin = 0, .queries = 1, .k_begin = 0, .keys = 2}};
  AttentionInputs inputs{.q = view(q, 1, 4, 1, 1),
                         .k = view(k, 1, 2, 2, 1),
                         .v = View<const bf16, 4>(v + 1, {1, 2, 2, 1}, {0, 2, -1, 1}),
                         .entries = entries};
  const double bias[]{0, -kInfinity};
  inputs.bias = view(bias, 1, 1, 1, 2);
  expect_near(attention(inputs).out, {3, 3, 30, 30}, 0);
}

}  // namespace
}  // namespace attn::kernels::reference
