// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/attention.hpp>

#include "gtest/gtest.h"
#include "support/isas.hpp"
#include "support/tensors.hpp"

// Many keys are summed in chunks, by one task or by several: a row's bits do not tell which.
namespace attn::test {
namespace {

constexpr std::ptrdiff_t kQueries = 100, kKeys = 5000;

struct Results {
  Tensor out, lse;

  Results(DType dtype, std::ptrdiff_t queries)
      : out(poisoned_tensor(dtype, 1, 4, queries, 12)),
        lse(poisoned_tensor(dtype == DType::f64 ? DType::f64 : DType::f32, 1, 4, queries)) {}
  AttentionOutputs wanted() { return {.out = out, .lse = lse}; }
};

// Tokens first ... of every head.
Tensor tokens(const Tensor& whole, std::ptrdiff_t first, std::ptrdiff_t count) {
  const std::ptrdiff_t width = whole.rank() == 4 ? whole.extent(3) : 1, row = whole.extent(2) * width;
  const char* data =
      static_cast<const char*>(whole.data()) + first * width * static_cast<std::ptrdiff_t>(size_of(whole.dtype()));
  return copy_of<4>({whole.dtype(), data, {1, whole.extent(1), count, width}, {4 * row, row, width, 1}});
}

struct OptionSet {
  const char* name;
  AttentionOptions options;
};

std::vector<OptionSet> option_sets(const Tensor& sink) {
  const Align align = Align::bottom_right();
  AttentionOptions steps{.align = align, .softcap = 5};
  steps.sink = sink;
  steps.alibi = sink;
  return {{"plain", {.align = align}},
          {"causal", {.mask = Mask::causal(), .align = align}},
          {"window within the second and third chunk", {.mask = Mask::window(1500, 0), .align = align}},
          {"cut within the second chunk", {.mask = Mask::lengths(std::vector<std::int64_t>{2500}), .align = align}},
          {"soft-cap, sink, ALiBi", steps}};
}

// What a row of the many gives, it gives among the last few of them as well: alone, beside the other heads of its
// group, or without them.
TEST(AttentionChunks, FewQueriesGiveTheBitsOfMany) {
  const Tensor sink = Tensor::of<float>({0.5f, 0.25f, 0.125f, 0.1f}, 4);
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
    const Tensor q = normal_tensor(dtype, 1, 1, 4, kQueries, 16), k = normal_tensor(dtype, 2, 1, 2, kKeys, 16),
                 v = normal_tensor(dtype, 3, 1, 2, kKeys, 12);
    for (const std::string& isa : isas_to_test()) {
      for (const OptionSet& set : option_sets(sink)) {
        Context one({.threads = 1, .isa = isa}), three({.threads = 3, .isa = isa});
        Results all(dtype, kQueries);
        attention(q, {k, v}, all.wanted(), set.options, one);
        for (const std::ptrdiff_t n : {1, 10, 33, 64, 65}) {
          SCOPED_TRACE(isa + ", " + std::string(name_of(dtype)) + ", " + set.name + ", " + std::to_string(n));
          Results some(dtype, n);
          attention(tokens(q, kQueries - n, n), {k, v}, some.wanted(), set.options, three);
          EXPECT_TRUE(same_bits(some.out, tokens(all.out, kQueries - n, n)));
          EXPECT_TRUE(same_bits(tokens(some.lse, 0, n), tokens(all.lse, kQueries - n, n)));
        }
      }
    }
  }
}

TEST(AttentionChunks, PackedSequencesHaveTheBitsOfPaddedOnes) {
  const Tensor q = normal_tensor(DType::f32, 1, 2, 4, kQueries, 16), k = normal_tensor(DType::f32, 2, 2, 2, kKeys, 16);
  Tensor padded = poisoned_tensor(DType::f32, 2, 4, kQueries, 16);
  attention(q, k, k, padded);
  // The first sequence with ten of its queries, the second with all.
  Tensor qp = Tensor::empty(DType::f32, 1, 4, 10 + kQueries, 16), kp = Tensor::empty(DType::f32, 1, 2, 2 * kKeys, 16);
  const auto fill = [](const Tensor& from, Tensor& to, std::ptrdiff_t b, std::ptrdiff_t count, std::ptrdiff_t first) {
    for (std::ptrdiff_t h = 0; h < from.extent(1); ++h) {
      const float* rows = from.values<float>().data() + (b * from.extent(1) + h) * from.extent(2) * 16;
      std::copy_n(rows, count * 16, to.values<float>().data() + (h * to.extent(2) + first) * 16);
    }
  };
  fill(q, qp, 0, 10, 0);
  fill(q, qp, 1, kQueries, 10);
  fill(k, kp, 0, kKeys, 0);
  fill(k, kp, 1, kKeys, kKeys);
  const std::vector<std::int32_t> cu_q{0, 10, 10 + kQueries}, cu_k{0, kKeys, 2 * kKeys};
  Tensor packed = poisoned_tensor(DType::f32, 1, 4, 10 + kQueries, 16);
  attention(qp, kp, kp, packed, {.packing = {.cu_q = cu_q, .cu_k = cu_k}});
  for (std::ptrdiff_t h = 0; h < 4; ++h) {
    const float* found = packed.values<float>().data() + h * (10 + kQueries) * 16;
    const float* expected = padded.values<float>().data() + h * kQueries * 16;
    EXPECT_TRUE(std::equal(found, found + 10 * 16, expected)) << h;
    EXPECT_TRUE(std::equal(found + 10 * 16, found + (10 + kQueries) * 16, expected + 4 * kQueries * 16)) << h;
  }
}

}  // namespace
}  // namespace attn::test
