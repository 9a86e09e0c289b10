// SPDX-License-Identifier: Apache-2.0
#include <attn/attention.hpp>

#include "gtest/gtest.h"
#include "support/attention_cases.hpp"
#include "support/attention_data.hpp"
#include "support/attention_verdict.hpp"

// Few queries against many keys: the heads of a group share a task, keys are cut in chunks, and partial results merged.
namespace attn::test {
namespace {

// Cases of the table with other lengths: every option meets a few queries and several chunks of keys.
std::vector<AttentionCase> long_cases() {
  constexpr std::ptrdiff_t kQueries[] = {1, 4, 17, 33, 64}, kKeys[] = {2017, 4100, 6048};
  std::vector<AttentionCase> cases;
  for (std::size_t i = 0; i < attention_cases().size(); i += 13) {
    AttentionCase c = attention_cases()[i];
    c.size = {1, kQueries[cases.size() % 5], kKeys[cases.size() % 3]};
    if (c.align == Align::Kind::unspecified) c.align = Align::Kind::bottom_right;
    c.heads = cases.size() % 2 == 0 ? HeadCounts{3, 1} : HeadCounts{4, 2};
    c.dims = {std::min<std::ptrdiff_t>(c.dims.qk, 24), std::min<std::ptrdiff_t>(c.dims.v, 20)};
    cases.push_back(c);
  }
  return cases;
}

TEST(AttentionFewQueries, MatchTheReferenceWithTheSameBitsForAnyNumberOfThreads) {
  Context one({.threads = 1}), two({.threads = 2}), five({.threads = 5});
  for (const AttentionCase& c : long_cases()) {
    AttentionData data(c);
    const auto expected = reference_attention(data.q.in(), data.k.in(), data.v.in(), data.spec);
    const AttentionOptions options = build(data.spec);
    std::vector<std::uint64_t> first;
    for (Context* context : {&one, &two, &five}) {
      data.poison_outputs();
      attention(data.q.in(), {data.k.in(), data.v.in()}, data.outputs(), options, *context);
      EXPECT_EQ(attention_complaint(c, c.tolerance(), data, expected), "") << c.name();
      if (context == &one) first = data.out.bits();
      EXPECT_EQ(data.out.bits(), first) << context->threads() << " threads: " << c.name();
    }
  }
}

// One query of one head against keys of several chunks is as many tasks, so that more than one thread has work.
TEST(AttentionFewQueries, OneHeadHasWorkForEveryThread) {
  Context context({.threads = 4});
  const std::ptrdiff_t q_shape[] = {1, 1, 1, 16}, k_shape[] = {1, 1, 20000, 16};
  const Tensor q = Tensor::zeros(DType::f32, q_shape), k = Tensor::zeros(DType::f32, k_shape);
  Tensor out = Tensor::zeros(DType::f32, q_shape);
  EXPECT_GE(describe_attention(q, {k, k}, {.out = out}, {}, context).tasks, 8);
}

}  // namespace
}  // namespace attn::test
