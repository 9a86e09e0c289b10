// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <attn/error.hpp>
#include <attn/inspect.hpp>
#include <attn/observer.hpp>
#include <iostream>

#include "io/files.hpp"
#include "models/bert_goldens.hpp"
#include "support/minilm.hpp"

namespace attn::inspect {
namespace {

using io::test::message_of;
using test::max_distance;

io::Encoding encoding_of(const std::vector<std::int32_t>& ids, const std::vector<std::int32_t>& types,
                         std::size_t count) {
  const auto n = static_cast<std::ptrdiff_t>(count);
  return {.ids = {ids.begin(), ids.begin() + n}, .type_ids = {types.begin(), types.begin() + n}};
}

models::BertModel tiny(const std::string& name) { return models::load(test::test_data("tiny_bert/" + name)); }

TEST(Record, GivesTheExpectedWeights) {
  for (const std::string& name : test::tiny_names()) {
    const models::BertModel model = tiny(name);
    const auto expected = io::SafeTensors::open(test::test_data("tiny_bert/" + name + ".safetensors"));
    double worst = 0;
    for (const test::TinyCase& c : test::tiny_cases(name)) {
      const Tensor all = expected.tensor(c.name + ".attentions");  // (B, layer, head, T, T)
      const auto goal = all.view<float, 5>();
      for (std::size_t b = 0; b < c.ids.size(); ++b) {
        const auto n = static_cast<std::ptrdiff_t>(c.lengths[b]);
        const Record seen = record(model, encoding_of(c.ids[b], c.types[b], static_cast<std::size_t>(n)));
        ASSERT_EQ(seen.weights.size(), 2u);
        for (std::ptrdiff_t l = 0; l < 2; ++l) {
          const Tensor& weights = seen.weights[static_cast<std::size_t>(l)];
          ASSERT_EQ(io::test::extents(weights.shape()), (std::vector<std::ptrdiff_t>{goal.extent(2), n, n}));
          const auto found = weights.view<float, 3>();
          for (std::ptrdiff_t h = 0; h < goal.extent(2); ++h) {
            for (std::ptrdiff_t i = 0; i < n; ++i) {
              for (std::ptrdiff_t j = 0; j < n; ++j) {
                const float goal_value = goal(static_cast<std::ptrdiff_t>(b), l, h, i, j);
                worst = std::max(worst, static_cast<double>(std::abs(found(h, i, j) - goal_value)));
              }
            }
          }
        }
      }
    }
    EXPECT_LE(worst, 1e-5) << name;
    std::cout << name << ": attention weights within " << worst << '\n';
  }
}

TEST(Record, ObservedRunsHaveTheBitsOfUnobservedOnes) {
  for (const std::string& name : test::tiny_names()) {
    const models::BertModel model = tiny(name);
    for (const test::TinyCase& c : test::tiny_cases(name)) {
      const io::Encoding encoding = encoding_of(c.ids[0], c.types[0], static_cast<std::size_t>(c.lengths[0]));
      for (const int threads : {1, 3}) {
        Context context({.threads = threads});
        const Tensor plain = model.forward(models::TokenBatch(encoding), context);
        const Record seen = record(model, encoding, {}, context);
        EXPECT_EQ(max_distance(seen.last_hidden.values<float>(), plain.values<float>()), 0) << name << ' ' << c.name;
      }
    }
  }
}

TEST(Record, RecordsWhatWasChosen) {
  const models::BertModel model = tiny("relu_prefix");
  const Record all = record(model, "the cat sat", {.pair = "on the mat"});
  const Record some = record(model, "the cat sat", {.layers = {1}, .heads = {3, 0, 3}, .pair = "on the mat"});
  EXPECT_EQ(all.layers, (std::vector<std::ptrdiff_t>{0, 1}));
  EXPECT_EQ(all.heads, (std::vector<std::ptrdiff_t>{0, 1, 2, 3}));
  EXPECT_EQ(some.layers, (std::vector<std::ptrdiff_t>{1}));
  EXPECT_EQ(some.heads, (std::vector<std::ptrdiff_t>{0, 3}));
  EXPECT_EQ(some.encoding.tokens,
            (std::vector<std::string>{"[CLS]", "the", "cat", "sat", "[SEP]", "on", "the", "mat", "[SEP]"}));
  EXPECT_EQ(some.config.num_hidden_layers, 2);
  ASSERT_EQ(some.weights.size(), 1u);
  ASSERT_EQ(io::test::extents(some.weights[0].shape()), (std::vector<std::ptrdiff_t>{2, 9, 9}));
  for (const std::ptrdiff_t i : {0, 1}) {
    EXPECT_EQ(max_distance(test::row_of(some.weights[0], i), test::row_of(all.weights[1], 3 * i)), 0);
  }
  for (std::ptrdiff_t h = 0; h < 4; ++h) {
    for (std::ptrdiff_t i = 0; i < 9; ++i) {
      double sum = 0;
      for (std::ptrdiff_t j = 0; j < 9; ++j) sum += static_cast<double>(all.weights[0].view<float, 3>()(h, i, j));
      EXPECT_NEAR(sum, 1, 1e-6);
    }
  }
}

TEST(Record, CutsLongTexts) {
  const models::BertModel model = tiny("relu_prefix");
  std::string text;
  for (int i = 0; i < 40; ++i) text += "good ";
  const Record whole = record(model, text);
  EXPECT_EQ(whole.encoding.ids.size(), 32u);
  EXPECT_TRUE(whole.encoding.cut);
  EXPECT_EQ(record(model, "the cat sat on the mat", {.max_tokens = 4}).encoding.ids.size(), 4u);
}

TEST(Record, LeavesTheContextAsItWas) {
  class Counter final : public AttentionObserver {
   public:
    void on_attention(const AttentionCall&) override { ++calls; }
    int calls = 0;
  };
  const models::BertModel model = tiny("relu_prefix");
  Context context({.threads = 1});
  Counter counter;
  context.set_observer(&counter);
  (void)record(model, "a", {}, context);
  EXPECT_EQ(context.observer(), &counter);
  EXPECT_EQ(counter.calls, 0);
  io::Encoding unknown{.ids = {1000}, .type_ids = {0}};
  EXPECT_THROW((void)record(model, unknown, {}, context), Error);
  EXPECT_EQ(context.observer(), &counter);
}

TEST(Record, NamesWhatTheModelLacks) {
  const models::BertModel model = tiny("relu_prefix");
  const auto message = [&](const RecordOptions& options) {
    return message_of([&] { (void)record(model, "a", options); });
  };
  EXPECT_EQ(message({.layers = {0, 2}}), "inspect::record: layers: 2, expected 0 to 1");
  EXPECT_EQ(message({.heads = {-1}}), "inspect::record: heads: -1, expected 0 to 3");
  EXPECT_EQ(message({.max_tokens = 33}), "inspect::record: max_tokens: 33, expected 1 to 32");
}

TEST(Record, GivesTheWeightsOfMinilm) {
  ATTN_REQUIRE_MINILM(dir);
  const models::BertModel model = models::load(dir);
  const auto expected = io::SafeTensors::open(test::test_data("minilm/expected.safetensors"));
  double worst = 0;
  for (const test::MinilmCase& c : test::minilm_cases()) {
    const io::Encoding encoding = encoding_of(c.ids, c.types, c.ids.size());
    const Record seen = record(model, encoding);
    const Tensor plain = model.forward(models::TokenBatch(encoding));
    EXPECT_EQ(max_distance(seen.last_hidden.values<float>(), plain.values<float>()), 0) << c.name;
    const Tensor all = expected.tensor(c.name + ".attentions");  // (layer, head, row, key)
    const auto goal = all.view<float, 4>();
    ASSERT_EQ(goal.extent(2), static_cast<std::ptrdiff_t>(c.attention_rows.size()));
    double distance = 0;
    for (std::ptrdiff_t l = 0; l < 6; ++l) {
      const auto found = seen.weights[static_cast<std::size_t>(l)].view<float, 3>();
      for (std::ptrdiff_t h = 0; h < 12; ++h) {
        for (std::size_t r = 0; r < c.attention_rows.size(); ++r) {
          for (std::ptrdiff_t j = 0; j < goal.extent(3); ++j) {
            const float difference = found(h, c.attention_rows[r], j) - goal(l, h, static_cast<std::ptrdiff_t>(r), j);
            distance = std::max(distance, static_cast<double>(std::abs(difference)));
          }
        }
      }
    }
    EXPECT_LE(distance, 1e-5) << c.name;
    worst = std::max(worst, distance);
  }
  std::cout << "MiniLM, every layer and head of 20 texts: attention weights within " << worst << " (1e-5 allowed)\n";
}

}  // namespace
}  // namespace attn::inspect
