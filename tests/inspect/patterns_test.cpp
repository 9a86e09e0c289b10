// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <attn/error.hpp>
#include <attn/inspect.hpp>
#include <numeric>

#include "io/files.hpp"
#include "models/bert_goldens.hpp"

namespace attn::inspect {
namespace {

using io::test::message_of;

const std::vector<std::string> kTokens{"[CLS]", "a", "cat", "sat", "[SEP]"};

// One head in which every query puts all its weight on the key at i + step, cut to the tokens.
HeadPattern shifted(std::ptrdiff_t step) {
  Tensor weights = Tensor::zeros(DType::f32, 1, 5, 5);
  for (std::ptrdiff_t i = 0; i < 5; ++i) {
    weights.view<float, 3>()(0, i, std::clamp<std::ptrdiff_t>(i + step, 0, 4)) = 1;
  }
  return patterns(weights, kTokens).at(0);
}

TEST(Patterns, NameWhereAHeadLooks) {
  EXPECT_EQ(shifted(0).most, Target::self);
  EXPECT_DOUBLE_EQ(shifted(0).share_of(Target::self), 0.6);
  EXPECT_DOUBLE_EQ(shifted(0).share_of(Target::cls), 0.2);  // [CLS] on itself counts as [CLS]
  EXPECT_EQ(shifted(-1).most, Target::previous);
  EXPECT_DOUBLE_EQ(shifted(-1).share_of(Target::previous), 0.6);
  EXPECT_DOUBLE_EQ(shifted(-1).share_of(Target::cls), 0.4);
  EXPECT_EQ(shifted(1).most, Target::next);
  EXPECT_EQ(shifted(-4).most, Target::cls);
  EXPECT_DOUBLE_EQ(shifted(-4).share_of(Target::cls), 1);
  EXPECT_EQ(shifted(4).most, Target::sep);
}

TEST(Patterns, AreMeansOverQueries) {
  Tensor weights = Tensor::empty(DType::f64, 2, 3, 3);
  for (double& w : weights.values<double>()) w = 1.0 / 3;
  const std::vector<std::string> tokens{"x", "y", "z"};
  const HeadPattern pattern = patterns(weights, tokens).at(1);
  EXPECT_EQ(pattern.head, 1);
  EXPECT_DOUBLE_EQ(pattern.share_of(Target::self), 1.0 / 3);
  EXPECT_DOUBLE_EQ(pattern.share_of(Target::previous), 2.0 / 9);
  EXPECT_DOUBLE_EQ(pattern.share_of(Target::next), 2.0 / 9);
  EXPECT_DOUBLE_EQ(pattern.share_of(Target::other), 2.0 / 9);
  EXPECT_EQ(pattern.most, Target::self);
}

TEST(Patterns, CoverARecord) {
  const models::BertModel model = models::load(test::test_data("tiny_bert/relu_prefix"));
  const Record seen = record(model, "the cat sat on the mat", {.layers = {1}, .heads = {1, 3}});
  const std::vector<HeadPattern> found = patterns(seen);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].layer, 1);
  EXPECT_EQ(found[0].head, 1);
  EXPECT_EQ(found[1].head, 3);
  for (const HeadPattern& p : found) {
    EXPECT_NEAR(std::accumulate(p.share.begin(), p.share.end(), 0.0), 1, 1e-6);
    EXPECT_EQ(p.share_of(p.most), *std::max_element(p.share.begin(), p.share.end()));
  }
}

TEST(Patterns, HaveNames) {
  EXPECT_EQ(name_of(Target::self), "self");
  EXPECT_EQ(name_of(Target::cls), "[CLS]");
  EXPECT_EQ(name_of(Target::other), "other");
}

TEST(Patterns, NameWhatTheyCannotTake) {
  const Tensor weights = Tensor::zeros(DType::f32, 2, 4, 5), whole = Tensor::zeros(DType::i32, 2, 5, 5);
  const Tensor flat = Tensor::zeros(DType::f32, 5, 5);
  EXPECT_EQ(message_of([&] { (void)patterns(weights, kTokens); }),
            "inspect::patterns: weights: shape (2, 4, 5), expected (2, 5, 5) for 5 tokens");
  EXPECT_EQ(message_of([&] { (void)patterns(whole, kTokens); }),
            "inspect::patterns: weights: dtype i32, expected f32 or f64");
  EXPECT_EQ(message_of([&] { (void)patterns(flat, kTokens); }),
            "inspect::patterns: weights: rank 2, expected 3: (heads, queries, keys)");
  EXPECT_EQ(message_of([&] {
              (void)patterns(In<3>(DType::f32, nullptr, {2, 5, 5}, {25, 5, 1}), kTokens);
            }),
            "inspect::patterns: weights: null pointer, expected memory for (2, 5, 5)");
}

}  // namespace
}  // namespace attn::inspect
