// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <attn/error.hpp>
#include <attn/train/metrics.hpp>

namespace attn::train {
namespace {

using Tags = std::vector<std::string>;

TEST(Metrics, AccuracyIsTheShareThatIsRight) {
  const std::int32_t a[] = {1, 2, 3, 4}, b[] = {1, 2, 0, 4};
  EXPECT_EQ(accuracy(a, b), 0.75);
  EXPECT_EQ(accuracy({}, {}), 0);
  EXPECT_THROW(accuracy(a, std::span(b).first(3)), Error);
}

TEST(Metrics, TheBestClassIsTheFirstOfTheLargest) {
  const Tensor logits = Tensor::of<float>({0, 2, 2, -1, -3, -2}, 1, 2, 3);
  EXPECT_EQ(best_classes(logits), (std::vector<std::int32_t>{1, 0}));
}

TEST(Metrics, SpansEndWhereTheirKindEnds) {
  const Tags tags{"B-ns", "I-ns", "B-ns", "O", "I-ns", "B-nr", "I-nt", "I-nr", "B-nt"};
  EXPECT_EQ(spans_of(tags), (std::vector<Span>{{0, 2, "ns"}, {2, 3, "ns"}, {5, 6, "nr"}, {8, 9, "nt"}}));
  EXPECT_TRUE(spans_of({}).empty());
}

TEST(Metrics, ASpanCountsOnlyAsAWhole) {
  SpanScore score;
  score.add(Tags{"B-ns", "I-ns", "O", "B-nr"}, Tags{"B-ns", "O", "O", "B-nr"});
  score.add(Tags{"O", "O"}, Tags{"B-nt", "I-nt"});
  EXPECT_EQ(score.predicted, 2);
  EXPECT_EQ(score.expected, 3);
  EXPECT_EQ(score.both, 1);
  EXPECT_DOUBLE_EQ(score.precision(), 0.5);
  EXPECT_DOUBLE_EQ(score.recall(), 1.0 / 3);
  EXPECT_DOUBLE_EQ(score.f1(), 0.4);
  EXPECT_THROW(score.add(Tags{"O"}, {}), Error);
  EXPECT_EQ(SpanScore{}.f1(), 0);
}

}  // namespace
}  // namespace attn::train
