// SPDX-License-Identifier: Apache-2.0
// Attention on the tape against central differences, with every option. That attention_backward itself is right for all
// combinations of them is tested with it; here, that each one gets there and lives as long as the tape.
#include <gtest/gtest.h>

#include <attn/autograd.hpp>

#include "support/gradient_check.hpp"

namespace attn::autograd {
namespace {

using test::GradientCase;
using test::normal_tensor;
using Inputs = std::vector<Variable>;

// What options view, of one sequence of four tokens with two heads. It is gone when the tape runs backward.
struct Viewed {
  Tensor bias = normal_tensor(DType::f64, 6, 1, 2, 4, 4), bias_of_keys = normal_tensor(DType::f64, 7, 1, 1, 1, 4),
         sink = normal_tensor(DType::f64, 8, 2), alibi = Tensor::of<double>({0.5, 0.25}, 2);
  Tensor keep = Tensor::of<std::uint8_t>({1, 0, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1}, 1, 1, 4, 4);
  Tensor ids = Tensor::of<std::int32_t>({1, 1, 2, 1}, 1, 4), positions = Tensor::of<std::int32_t>({2, 0, 3, 1}, 1, 4);
  std::vector<std::int32_t> cu = {0, 1, 4};
};

struct OptionCase {
  std::string name;
  std::function<AttentionOptions(const Viewed&)> options;
};

std::vector<OptionCase> option_cases() {
  using Options = AttentionOptions;
  return {
      {"none", [](const Viewed&) { return Options(); }},
      {"causal", [](const Viewed&) { return Options{.mask = Mask::causal()}; }},
      {"window", [](const Viewed&) { return Options{.mask = Mask::window(1, 0)}; }},
      {"window_open", [](const Viewed&) { return Options{.mask = Mask::window(Mask::unbounded, 1)}; }},
      {"prefix_lm", [](const Viewed&) { return Options{.mask = Mask::prefix_lm(2)}; }},
      {"lengths", [](const Viewed&) { return Options{.mask = Mask::lengths({3})}; }},
      {"documents", [](const Viewed& v) { return Options{.mask = Mask::documents(v.ids)}; }},
      {"keep_with_an_empty_row", [](const Viewed& v) { return Options{.mask = Mask::keep(v.keep)}; }},
      {"drop", [](const Viewed& v) { return Options{.mask = Mask::drop(v.keep) & Mask::causal()}; }},
      {"bottom_right",
       [](const Viewed&) {
         return Options{.mask = Mask::causal() & Mask::lengths({3}), .align = Align::bottom_right()};
       }},
      {"positions",
       [](const Viewed& v) {
         return Options{.mask = Mask::causal(), .align = Align::positions(v.positions.view<std::int32_t, 2>())};
       }},
      {"scale", [](const Viewed&) { return Options{.scale = -0.7}; }},
      {"softcap", [](const Viewed&) { return Options{.softcap = 1.5}; }},
      {"bias", [](const Viewed& v) { return Options{.bias = v.bias}; }},
      {"bias_of_keys", [](const Viewed& v) { return Options{.bias = v.bias_of_keys}; }},
      {"sink", [](const Viewed& v) { return Options{.sink = v.sink}; }},
      {"alibi", [](const Viewed& v) { return Options{.alibi = v.alibi}; }},
      {"packing",
       [](const Viewed& v) { return Options{.mask = Mask::causal(), .packing = {.cu_q = v.cu, .cu_k = v.cu}}; }},
      {"dropout", [](const Viewed&) { return Options{.dropout = {.p = 0.4, .seed = 3, .offset = 5}}; }},
      {"all",
       [](const Viewed& v) {
         return Options{.mask = Mask::causal() & Mask::documents(v.ids),
                        .align = Align::top_left(),
                        .scale = 0.8,
                        .softcap = 2,
                        .bias = v.bias,
                        .sink = v.sink,
                        .alibi = v.alibi,
                        .dropout = {.p = 0.2, .seed = 1}};
       }},
  };
}

class AttentionGradients : public testing::TestWithParam<OptionCase> {};

TEST_P(AttentionGradients, AreThoseOfCentralDifferences) {
  const auto& [name, options] = GetParam();
  const std::function<AttentionOptions(const Viewed&)> of = options;
  const GradientCase of_three{name, {{1, 2, 4, 3}, {1, 1, 4, 3}, {1, 1, 4, 2}}, [of](const Inputs& i) {
                                const Viewed viewed;
                                return attention({.q = i[0], .k = i[1], .v = i[2]}, of(viewed));
                              }};
  EXPECT_EQ(test::gradient_error(of_three), "");
  const GradientCase of_one{name, {{1, 4, 12}}, [of](const Inputs& i) {
                              const Viewed viewed;
                              return self_attention(i[0], 2, 1, of(viewed));
                            }};
  EXPECT_EQ(test::gradient_error(of_one), "");
}

const auto kOptionName = [](const auto& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(Option, AttentionGradients, testing::ValuesIn(option_cases()), kOptionName);

}  // namespace
}  // namespace attn::autograd
