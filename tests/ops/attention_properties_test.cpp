// SPDX-License-Identifier: Apache-2.0
#include <attn/attention.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "gtest/gtest.h"
#include "support/tensors.hpp"

// What must hold of attention whatever the numbers are.
namespace attn::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Self- or cross-attention of two entries and grouped heads.
struct Operands {
  Tensor q, k, v;

  Operands(DType dtype, int queries, int keys, std::uint64_t seed = base_seed()) {
    Random random(seed);
    q = normal_tensor(random, dtype, 2, 4, queries, 24);
    k = normal_tensor(random, dtype, 2, 2, keys, 24);
    v = normal_tensor(random, dtype, 2, 2, keys, 20);
  }
  Tensor out(const AttentionOptions& options = {}) const {
    Tensor result = poisoned_tensor(q.dtype(), 2, 4, q.extent(2), 20);
    attention(q, k, v, result, options);
    return result;
  }
};

TEST(AttentionProperties, RowsOfWeightsSumToOneMinusTheSinksShare) {
  const Operands x(DType::f32, 37, 150);
  const Tensor sink = Tensor::of<float>({0.5f, -1, 2, 0}, 4);
  for (const bool has_sink : {false, true}) {
    Tensor weights = poisoned_tensor(DType::f32, 2, 4, 37, 150), lse = poisoned_tensor(DType::f32, 2, 4, 37);
    AttentionOptions options{.mask = Mask::causal(), .align = Align::bottom_right()};
    if (has_sink) options.sink = sink;
    attention(x.q, {x.k, x.v}, {.lse = lse, .weights = weights}, options);
    const auto w = std::as_const(weights).values<float>(), l = std::as_const(lse).values<float>();
    for (std::size_t row = 0; row < l.size(); ++row) {
      const double sum = std::accumulate(w.begin() + static_cast<std::ptrdiff_t>(row * 150),
                                         w.begin() + static_cast<std::ptrdiff_t>(row * 150 + 150), 0.0);
      const double logit = static_cast<double>(std::as_const(sink).values<float>()[row / 37 % 4]);
      EXPECT_NEAR(sum, has_sink ? 1 - std::exp(logit - static_cast<double>(l[row])) : 1, 2e-6);
    }
  }
}

TEST(AttentionProperties, PermutingKeysChangesNothing) {
  const Operands x(DType::f32, 30, 100);
  Operands permuted(DType::f32, 30, 100);
  const auto reorder = [](Tensor& t) {  // j -> 37 j mod 100, a permutation
    const Tensor source = t.clone();
    const auto from = source.view<float, 4>();
    const auto to = t.view<float, 4>();
    for (int bh = 0; bh < 4; ++bh) {
      for (int j = 0; j < 100; ++j) {
        for (int d = 0; d < t.extent(3); ++d) to(bh / 2, bh % 2, j, d) = from(bh / 2, bh % 2, 37 * j % 100, d);
      }
    }
  };
  reorder(permuted.k);
  reorder(permuted.v);
  EXPECT_FALSE(same_bits(x.k, permuted.k));
  EXPECT_LE(largest_difference(x.out(), permuted.out()), 3e-6);
}

// Tokens from `first` on become those of another tensor of the same shape.
void replace_tokens(Tensor& t, const Tensor& other, std::ptrdiff_t first) {
  const std::size_t row = size_of(t.dtype()) * static_cast<std::size_t>(t.extent(3));
  for (std::ptrdiff_t bh = 0; bh < t.extent(0) * t.extent(1); ++bh) {
    const std::size_t at = static_cast<std::size_t>(bh * t.extent(2) + first) * row;
    std::memcpy(static_cast<char*>(t.data()) + at, static_cast<const char*>(other.data()) + at,
                static_cast<std::size_t>(t.extent(2) - first) * row);
  }
}

TEST(AttentionProperties, CausalPrefixNeverSeesItsFuture) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
    const AttentionOptions causal{.mask = Mask::causal()};
    const Tensor before = Operands(dtype, 130, 130).out(causal);
    const Operands elsewhere(dtype, 130, 130, base_seed() + 99);
    for (const int prefix : {1, 17, 64, 129}) {
      Operands x(dtype, 130, 130);
      replace_tokens(x.k, elsewhere.k, prefix);
      replace_tokens(x.v, elsewhere.v, prefix);
      const Tensor after = x.out(causal);
      const auto prefix_of = [&](const Tensor& t) {
        const In<4> view(t);
        return copy_of<4>({dtype, view.data(), {2, 4, prefix, 20}, view.strides()});
      };
      EXPECT_TRUE(same_bits(prefix_of(before), prefix_of(after))) << name_of(dtype) << ", prefix " << prefix;
      EXPECT_FALSE(same_bits(before, after));
    }
  }
}

TEST(AttentionProperties, ShiftOfAllLogitsChangesNothing) {
  const Operands small(DType::f32, 33, 70), exact(DType::f64, 33, 70);
  const Tensor shift = Tensor::of<float>({8}, 1, 1, 1, 1), large = Tensor::of<double>({-1000}, 1, 1, 1, 1);
  EXPECT_LE(largest_difference(small.out(), small.out({.bias = shift})), 3e-6);
  EXPECT_LE(largest_difference(exact.out(), exact.out({.bias = large})), 1e-12);
}

TEST(AttentionProperties, LargeLogitsDoNotOverflow) {
  const Operands x(DType::f32, 20, 40);
  const Tensor out = x.out({.scale = 1e4});
  for (const float y : out.values<float>()) EXPECT_TRUE(std::isfinite(y));
}

TEST(AttentionProperties, ScaleZeroIsTheMean) {
  const Operands x(DType::f64, 3, 50);
  const Tensor out = x.out({.scale = 0});
  const auto v = std::as_const(x.v).view<double, 4>();
  double mean = 0;
  for (int j = 0; j < 50; ++j) mean += v(1, 1, j, 7) / 50;
  EXPECT_NEAR((std::as_const(out).view<double, 4>()(1, 2, 1, 7)), mean, 1e-14);
}

TEST(AttentionProperties, BiasOfMinusInfinityIsAMask) {
  const Operands x(DType::f32, 50, 60);
  Tensor bias = Tensor::zeros(DType::f32, 1, 1, 50, 60), drop = Tensor::zeros(DType::boolean, 1, 1, 50, 60);
  Random random(base_seed() + 5);
  for (std::size_t i = 0; i < 50 * 60; ++i) {
    const bool hidden = random.below(3) == 0 || i / 60 == 20;  // query 20 sees nothing
    drop.values<bool>()[i] = hidden;
    if (hidden) bias.values<float>()[i] = static_cast<float>(-kInfinity);
  }
  EXPECT_TRUE(same_bits(x.out({.bias = bias}), x.out({.mask = Mask::drop(drop)})));
}

TEST(AttentionProperties, EmptyRowsAreZero) {
  const Operands x(DType::f32, 40, 40);
  const Tensor keep = Tensor::zeros(DType::u8, 1, 1, 1, 1), sink = Tensor::of<float>({0.5f, -1, 2, 0}, 4);
  for (const bool has_sink : {false, true}) {
    Tensor out = poisoned_tensor(DType::f32, 2, 4, 40, 20), lse = poisoned_tensor(DType::f32, 2, 4, 40);
    Tensor weights = poisoned_tensor(DType::f32, 2, 4, 40, 40);
    AttentionOptions options{.mask = Mask::keep(keep)};
    if (has_sink) options.sink = sink;
    attention(x.q, {x.k, x.v}, {.out = out, .lse = lse, .weights = weights}, options);
    for (const float y : std::as_const(out).values<float>()) EXPECT_EQ(y, 0);
    for (const float w : std::as_const(weights).values<float>()) EXPECT_EQ(w, 0);
    for (std::size_t row = 0; row < 2 * 4 * 40; ++row) {
      const double expected =
          has_sink ? static_cast<double>(std::as_const(sink).values<float>()[row / 40 % 4]) : -kInfinity;
      EXPECT_EQ(static_cast<double>(lse.values<float>()[row]), expected);
    }
  }
}

TEST(AttentionProperties, WindowKeepsBothEnds) {
  // Weights say what is visible: (128, 0) keeps 129 keys.
  Random random(base_seed());
  const Tensor q = normal_tensor(random, DType::f32, 1, 1, 300, 4);
  Tensor weights = poisoned_tensor(DType::f32, 1, 1, 300, 300);
  attention(q, {q, q}, {.weights = weights}, {.mask = Mask::window(128, 0)});
  const auto w = std::as_const(weights).view<float, 4>();
  for (const int i : {0, 100, 128, 129, 299}) {
    int visible = 0;
    for (int j = 0; j < 300; ++j) visible += w(0, 0, i, j) > 0;
    EXPECT_EQ(visible, std::min(i + 1, 129));
  }
}

}  // namespace
}  // namespace attn::test
