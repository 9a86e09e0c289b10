// SPDX-License-Identifier: Apache-2.0
// Where a decoder looks in the text that it translates.
#include "train/cross_attention.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <attn/attention.hpp>
#include <attn/train/task.hpp>

#include "io/files.hpp"
#include "support/random.hpp"

namespace attn::train {
namespace {

using io::test::message_of;

Tensor random_heads(std::ptrdiff_t tokens, test::Random& random) {
  Tensor t = Tensor::empty(DType::f32, 1, 2, tokens, 4);
  for (float& x : t.values<float>()) x = static_cast<float>(random.normal());
  return t;
}

TEST(CrossAttention, KeepsTheSecondCallOfOneLayer) {
  test::Random random(1);
  Context context({.threads = 1});
  Tensor expected = Tensor::empty(DType::f32, 1, 2, 3, 5);
  const CrossAttentionRecorder recorder(1, context);
  for (int call = 0; call < 6; ++call) {
    const Tensor q = random_heads(3, random), k = random_heads(5, random), v = random_heads(5, random);
    Tensor out = random_heads(3, random);
    attention(q, KeyValue(k, v), AttentionOutputs{.out = out}, {}, context);
    if (call != 3) continue;
    Context other({.threads = 1});
    attention(q, KeyValue(k, v), AttentionOutputs{.weights = expected}, {}, other);
  }
  const std::span<const float> found = recorder.weights().values<float>();
  ASSERT_EQ(std::ssize(found), expected.size());
  EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.values<float>().begin()));
}

Recipe recipe_of(TaskKind task) {
  return {.task = task,
          .tokens = {.kind = TokenKind::words},
          .model = {.width = 16, .layers = 2, .heads = 2, .feedforward = 24, .max_tokens = 8}};
}

TEST(CrossAttention, ATranslationSeenFromInside) {
  const Recipe recipe = recipe_of(TaskKind::translation);
  const std::vector<std::string> texts{"one two three", "uno dos tres"};
  const auto task = make_task(recipe, {{Vocabulary::learn(texts, recipe.tokens)}, {}});
  Context context({.threads = 1});
  const CrossAttention seen = task->attend("one two four", context);
  EXPECT_EQ(context.observer(), nullptr);
  EXPECT_EQ(seen.output, task->predict("one two four", context));
  EXPECT_EQ(seen.source, (std::vector<std::string>{"one", "two", "<unk>", "</s>"}));
  ASSERT_GT(seen.target.size(), 0U);
  ASSERT_EQ(seen.weights.extent(0), 2);
  ASSERT_EQ(seen.weights.extent(1), std::ssize(seen.target));
  ASSERT_EQ(seen.weights.extent(2), 4);
  const std::span<const float> weights = seen.weights.values<float>();
  for (std::size_t row = 0; row < weights.size(); row += 4) {
    EXPECT_NEAR(weights[row] + weights[row + 1] + weights[row + 2] + weights[row + 3], 1, 1e-5);
  }
}

TEST(CrossAttention, OtherModelsHaveNone) {
  const auto task = make_task(recipe_of(TaskKind::images), {{}, std::vector<std::string>(10, "x")});
  EXPECT_EQ(message_of([&] { (void)task->attend("x", default_context()); }),
            "attend: task: not translation: no other model has cross-attention");
}

}  // namespace
}  // namespace attn::train
