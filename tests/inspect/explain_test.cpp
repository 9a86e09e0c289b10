// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <attn/error.hpp>
#include <attn/inspect.hpp>
#include <cmath>
#include <limits>
#include <string_view>

#include "io/files.hpp"

namespace attn::inspect {
namespace {

using io::test::message_of;
constexpr double kHidden = -std::numeric_limits<double>::infinity();

std::vector<std::string> names_of(const Explanation& explanation) {
  std::vector<std::string> names;
  for (const Step& step : explanation.steps) names.push_back(step.name);
  return names;
}

const Tensor& step(const Explanation& explanation, std::string_view name) {
  for (const Step& s : explanation.steps) {
    if (s.name == name) return s.value;
  }
  throw std::runtime_error("no step " + std::string(name));
}

void expect_values(const Explanation& explanation, const std::string& name, const std::vector<double>& expected,
                   double tolerance) {
  const std::vector<double> found = io::test::values_of<double>(step(explanation, name));
  ASSERT_EQ(found.size(), expected.size()) << name;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isinf(expected[i])) {
      EXPECT_EQ(found[i], expected[i]) << name << " at " << i;
    } else {
      EXPECT_NEAR(found[i], expected[i], tolerance) << name << " at " << i;
    }
  }
}

TEST(Explain, GivesTheNumbersOfTheWorkedExample) {
  const Explanation e = explain(worked_example());
  EXPECT_EQ(names_of(e), (std::vector<std::string>{"X", "W_Q", "W_K", "W_V", "Q", "K", "V", "scores", "scaled",
                                                   "weights", "output"}));
  const double root = std::sqrt(2.0), third = 1.0 / 3;
  expect_values(e, "Q", {2, 1, 0, 1, 1, 1}, 0);
  expect_values(e, "K", {0, 2, 2, 0, 1, 1}, 0);
  expect_values(e, "V", {1, 0, 1, 2, 1, 1}, 0);
  expect_values(e, "scores", {2, 4, 3, 2, 0, 1, 2, 2, 2}, 0);
  expect_values(e, "scaled", {root, 2 * root, 1.5 * root, root, 0, root / 2, root, root, root}, 1e-15);
  expect_values(e, "weights", {0.140029, 0.575975, 0.283995, 0.575975, 0.140029, 0.283995, third, third, third}, 1e-6);
  expect_values(e, "output", {1, 1.435946, 1, 0.564054, 1, 1}, 1e-6);
  // The same to the last digits, from the definition.
  const double e0 = std::exp(root), e1 = std::exp(2 * root), e2 = std::exp(1.5 * root);
  expect_values(e, "output",
                {1, (2 * e1 + e2) / (e0 + e1 + e2), 1, (2 + std::exp(root / 2)) / (e0 + 1 + std::exp(root / 2)), 1, 1},
                1e-14);
  EXPECT_NE(e.note.find("tutorial"), std::string::npos);
  EXPECT_EQ(e.tokens.size(), 3u);
}

TEST(Explain, ShowsTheStepsThatOptionsAdd) {
  const Tensor bias = Tensor::of<double>({0, 1, -1}, 1, 1, 1, 3);
  AttentionOptions options;
  options.mask = Mask::causal();
  options.align = Align::top_left();
  options.softcap = 2;
  options.scale = 0.5;
  options.bias = bias;
  const Explanation e = explain(worked_example(), options);
  EXPECT_EQ(names_of(e), (std::vector<std::string>{"X", "W_Q", "W_K", "W_V", "Q", "K", "V", "scores", "scaled",
                                                   "capped", "biased", "masked", "weights", "output"}));
  const auto capped = [](double x) { return 2 * std::tanh(x / 2); };
  expect_values(e, "scaled", {1, 2, 1.5, 1, 0, 0.5, 1, 1, 1}, 0);
  expect_values(e, "biased",
                {capped(1), capped(2) + 1, capped(1.5) - 1, capped(1), 1, capped(0.5) - 1, capped(1), capped(1) + 1,
                 capped(1) - 1},
                1e-15);
  expect_values(e, "masked",
                {capped(1), kHidden, kHidden, capped(1), 1, kHidden, capped(1), capped(1) + 1, capped(1) - 1}, 1e-15);
  const double w = std::exp(capped(1)) / (std::exp(capped(1)) + std::exp(1.0));
  const Tensor& weights = step(e, "weights");
  EXPECT_NEAR((weights.view<double, 2>()(1, 0)), w, 1e-14);
  EXPECT_EQ((weights.view<double, 2>()(0, 0)), 1);
  EXPECT_EQ((weights.view<double, 2>()(1, 2)), 0);
}

TEST(Explain, TakesQueriesKeysAndValues) {
  Example example;
  example.q = Tensor::of<float>({2, 1}, 1, 2);
  example.k = Tensor::of<float>({0, 2, 2, 0, 1, 1}, 3, 2);
  example.v = Tensor::of<float>({1, 1, 1}, 3, 1);
  const Explanation e = explain(example);
  EXPECT_EQ(names_of(e), (std::vector<std::string>{"Q", "K", "V", "scores", "scaled", "weights", "output"}));
  expect_values(e, "scores", {2, 4, 3}, 0);
  expect_values(e, "output", {1}, 1e-15);
}

TEST(Explain, NamesWhatItCannotTake) {
  const auto message = [](const auto& change, const AttentionOptions& options = {}) {
    Example example = worked_example();
    change(example);
    return message_of([&] { (void)explain(example, options); });
  };
  EXPECT_EQ(message([](Example& e) { e.w_k = {}; }), "inspect::explain: w_k: missing, expected a matrix");
  EXPECT_EQ(message([](Example& e) {
              e.w_v = Tensor::of<double>({1, 2}, 2);
            }),
            "inspect::explain: w_v: shape (2), expected a matrix");
  EXPECT_EQ(message([](Example& e) { e.w_q = Tensor::zeros(DType::f64, 3, 2); }),
            "inspect::explain: w_q: 3 rows, expected 4 as x has columns");
  EXPECT_EQ(message([](Example& e) { e.x = Tensor::zeros(DType::i32, 3, 4); }),
            "inspect::explain: x: dtype i32, expected f32, f64, bf16 or f16");
  EXPECT_EQ(message([](Example& e) { e.x = {}; }), "inspect::explain: x: missing, expected a matrix");
  const std::string either = "inspect::explain: example: expected either x with w_q, w_k and w_v, or q, k and v";
  EXPECT_EQ(message([](Example& e) { e = {}; }), either);
  EXPECT_EQ(message([](Example& e) { e.k = e.x; }), either);
  EXPECT_NE(message([](Example& e) { e.w_k = Tensor::zeros(DType::f64, 4, 3); }).find("head dim"), std::string::npos);
  AttentionOptions dropped;
  dropped.dropout.p = 0.5;
  EXPECT_EQ(message([](Example&) {}, dropped),
            "inspect::explain: dropout: expected none: its steps could not be checked by hand");
}

}  // namespace
}  // namespace attn::inspect
