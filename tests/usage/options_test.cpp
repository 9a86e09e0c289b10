// SPDX-License-Identifier: Apache-2.0
// Programs as users write them: what attention computes is said by name.
#include <attn/attention.hpp>

#include "gtest/gtest.h"
#include "usage/plain.hpp"

namespace usage {
namespace {

using attn::Align;
using attn::Mask;

TEST(Options, CausalWithMoreKeysThanQueries) {
  const auto q = numbers(2 * 3 * 8), k = numbers(2 * 7 * 8, 5);
  auto out = numbers(2 * 3 * 8);
  const auto query = attn::view(q.data(), 1, 2, 3, 8), key = attn::view(k.data(), 1, 2, 7, 8);
  const auto result = attn::view(out.data(), 1, 2, 3, 8);

  attn::attention(query, key, key, result, {.mask = Mask::causal(), .align = Align::bottom_right()});
  EXPECT_LE(error_of(query, key, key, result, [](auto, auto i, auto j) { return j <= i + 4; }), kRounding);

  attn::attention(query, key, key, result, {.mask = Mask::window(1, 0) & Mask::causal(), .align = Align::top_left()});
  EXPECT_LE(error_of(query, key, key, result, [](auto, auto i, auto j) { return j <= i && j >= i - 1; }), kRounding);
}

std::vector<std::int64_t> lengths_of_batch() { return {6, 4}; }

TEST(Options, PaddingCausalAndBias) {
  const auto q = numbers(2 * 2 * 6 * 8);
  auto out = numbers(2 * 2 * 6 * 8);
  const std::vector<float> zeros(6 * 6);
  const auto x = attn::view(q.data(), 2, 2, 6, 8);
  const auto y = attn::view(out.data(), 2, 2, 6, 8);
  const std::vector<int> lengths{3, 5};
  const attn::View<const float, 2> bias(zeros.data(), {6, 6});

  attn::attention(x, x, x, y,
                  {.mask = Mask::causal() & Mask::lengths(lengths), .bias = bias.unsqueeze(0).unsqueeze(0)});
  const auto seen = [&](auto b, auto i, auto j) { return j <= i && j < lengths[static_cast<std::size_t>(b)]; };
  EXPECT_LE(error_of(x, x, x, y, seen), kRounding);

  const auto mask = Mask::lengths({3, 5}) & Mask::lengths(lengths_of_batch());  // copied: safe to keep
  attn::attention(x, x, x, y, {.mask = mask});
  EXPECT_LE(error_of(x, x, x, y, [](auto b, auto, auto j) { return j < (b == 0 ? 3 : 4); }), kRounding);
}

TEST(Options, PackedSequencesOfBf16) {
  const int total = 9;
  const std::vector<int> cu{0, 4, 9};
  const auto numbers_q = numbers(9 * 4 * 16), numbers_k = numbers(9 * 2 * 16, 5);
  std::vector<attn::bf16> q, k, o(9 * 4 * 16);
  for (const float x : numbers_q) q.push_back(attn::to_bf16(x));
  for (const float x : numbers_k) k.push_back(attn::to_bf16(x));

  auto Q = attn::from_blhd(q.data(), {.tokens = total, .heads = 4, .dim = 16});
  auto K = attn::from_blhd(k.data(), {.tokens = total, .heads = 2, .dim = 16});
  auto O = attn::from_blhd(o.data(), {.tokens = total, .heads = 4, .dim = 16});
  attn::attention(Q, K, K, O,
                  {.mask = Mask::causal(), .align = Align::bottom_right(), .packing = {.cu_q = cu, .cu_k = cu}});

  std::vector<float> wide_q, wide_k, wide_o;
  for (const attn::bf16 x : q) wide_q.push_back(attn::to_float(x));
  for (const attn::bf16 x : k) wide_k.push_back(attn::to_float(x));
  for (const attn::bf16 x : o) wide_o.push_back(attn::to_float(x));
  const auto view = [](const std::vector<float>& x, int heads) {
    return attn::from_blhd(x.data(), {.tokens = 9, .heads = heads, .dim = 16});
  };
  const auto same = [](auto i, auto j) { return (i < 4) == (j < 4); };
  EXPECT_LE(error_of(view(wide_q, 4), view(wide_k, 2), view(wide_k, 2), view(wide_o, 4),
                     [&](auto, auto i, auto j) { return j <= i && same(i, j); }),
            0x1p-8);  // results below 1 in magnitude, rounded to 8 bits
}

TEST(Options, OutputsByName) {
  const auto memory = numbers(1 * 2 * 4 * 8);
  const auto q = attn::view(memory.data(), 1, 2, 4, 8);
  std::vector<float> out(2 * 4 * 8), lse(2 * 4), weights(2 * 4 * 4);
  const auto w = attn::view(weights.data(), 1, 2, 4, 4);

  attn::attention(q, q, q,
                  {.out = attn::view(out.data(), 1, 2, 4, 8), .lse = attn::view(lse.data(), 1, 2, 4), .weights = w},
                  {.softcap = 30});
  for (const float x : lse) EXPECT_TRUE(std::isfinite(x));
  attn::attention(q, q, q, {.out = attn::view(out.data(), 1, 2, 4, 8), .weights = w});
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(w(0, 1, i, 0) + w(0, 1, i, 1) + w(0, 1, i, 2) + w(0, 1, i, 3), 1, 1e-6);
}

TEST(Options, ScaleAndSoftcapTakeAnyNumber) {
  const auto memory = numbers(1 * 2 * 4 * 8);
  auto out = memory;
  const auto q = attn::view(memory.data(), 1, 2, 4, 8);
  const auto y = attn::view(out.data(), 1, 2, 4, 8);
  const int d = 8;
  const float c = 0.25f;
  attn::attention(q, q, q, y, {.scale = 1 / std::sqrt(double(d)), .softcap = d * 1000});
  EXPECT_LE(error_of(q, q, q, y), 1e-5);  // a cap that far off changes little
  attn::attention(q, q, q, y, {.scale = c});
  EXPECT_LE(error_of(q, q, q, y, {}, 0.25), kRounding);
}

}  // namespace
}  // namespace usage
