// SPDX-License-Identifier: Apache-2.0
#include "support/minilm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <attn/models.hpp>
#include <ctime>
#include <iostream>

#include "models/bert_goldens.hpp"

// all-MiniLM-L6-v2 against Hugging Face transformers in float64. The figures are printed.
namespace attn::models {
namespace {

using test::max_distance;
using test::row_of;

// The largest distance between stored rows of one text and rows `first` on of `hidden`.
double distance_of_rows(const test::MinilmCase& c, const Tensor& hidden, std::ptrdiff_t first, const Tensor& goal) {
  double worst = 0;
  for (std::size_t r = 0; r < c.rows.size(); ++r) {
    const auto found = row_of(hidden, first + c.rows[r]);
    worst = std::max(worst, max_distance(found, row_of(goal, static_cast<std::ptrdiff_t>(r))));
  }
  return worst;
}

const io::SafeTensors& expected() {
  static const auto file = io::SafeTensors::open(test::test_data("minilm/expected.safetensors"));
  return file;
}

TEST(Minilm, HiddenStatesOfEveryTextAlone) {
  ATTN_REQUIRE_MINILM(dir);
  const BertModel model = load(dir);
  double worst = 0;
  for (const test::MinilmCase& c : test::minilm_cases()) {
    TokenBatch batch;
    batch.add(c.ids, c.types);
    const double distance =
        distance_of_rows(c, model.forward(batch), 0, expected().tensor(c.name + ".last_hidden_state"));
    EXPECT_LE(distance, 2e-5) << c.name;
    worst = std::max(worst, distance);
  }
  std::cout << "MiniLM, 20 texts: last hidden state within " << worst << " (2e-5 allowed)\n";
}

TEST(Minilm, HiddenStatesOfAPaddedBatchOfEight) {
  ATTN_REQUIRE_MINILM(dir);
  const BertModel model = load(dir);
  const std::vector<std::string> names = test::minilm_batch();
  std::vector<test::MinilmCase> cases;
  std::size_t width = 0;
  for (const std::string& name : names) {
    for (const test::MinilmCase& c : test::minilm_cases()) {
      if (c.name == name) cases.push_back(c);
    }
    width = std::max(width, cases.back().ids.size());
  }
  const auto w = static_cast<std::ptrdiff_t>(width);
  Tensor ids = Tensor::zeros(DType::i32, 8, w), types = Tensor::zeros(DType::i32, 8, w),
         mask = Tensor::zeros(DType::i32, 8, w);
  for (std::size_t b = 0; b < 8; ++b) {
    const std::size_t at = b * width;
    std::copy(cases[b].ids.begin(), cases[b].ids.end(),
              ids.values<std::int32_t>().begin() + static_cast<std::ptrdiff_t>(at));
    std::copy(cases[b].types.begin(), cases[b].types.end(),
              types.values<std::int32_t>().begin() + static_cast<std::ptrdiff_t>(at));
    for (std::size_t j = 0; j < cases[b].ids.size(); ++j) mask.values<std::int32_t>()[at + j] = 1;
  }
  const Tensor hidden = model.forward(PaddedTokens{.ids = ids, .mask = mask, .types = types}).reshape(8 * w, 384);
  double worst = 0;
  for (std::size_t b = 0; b < 8; ++b) {
    const auto first = static_cast<std::ptrdiff_t>(b) * w;
    const double distance =
        distance_of_rows(cases[b], hidden, first, expected().tensor(cases[b].name + ".last_hidden_state"));
    EXPECT_LE(distance, 2e-5) << cases[b].name;
    worst = std::max(worst, distance);
  }
  std::cout << "MiniLM, padded batch of 8: last hidden state within " << worst << " (2e-5 allowed)\n";
}

TEST(Minilm, SentenceEmbeddings) {
  ATTN_REQUIRE_MINILM(dir);
  const BertModel model = load(dir);
  EXPECT_EQ(model.max_seq_length(), 256);
  std::vector<std::string> texts, names;
  for (const test::MinilmCase& c : test::minilm_cases()) {
    if (c.second || c.name == "cut_at_512") continue;
    texts.push_back(c.text);
    names.push_back(c.name);
  }
  const Embeddings found = embed(model, texts);
  double worst = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const Tensor goal = expected().tensor(names[i] + ".embedding");
    const double distance = max_distance(row_of(found.values, static_cast<std::ptrdiff_t>(i)), goal.values<float>());
    EXPECT_LE(distance, 2e-6) << names[i];
    worst = std::max(worst, distance);
  }
  ASSERT_EQ(found.cut.size(), 1u);
  EXPECT_EQ(names[found.cut[0]], "cut_at_256");
  std::cout << "MiniLM, " << texts.size() << " texts: embedding within " << worst << " (2e-6 allowed)\n";
}

TEST(Minilm, EmbeddingsHaveTheSameBitsInAnyCompany) {
  ATTN_REQUIRE_MINILM(dir);
  const BertModel model = load(dir);
  std::vector<std::string> texts;
  for (const std::string& name : test::minilm_batch()) {
    for (const test::MinilmCase& c : test::minilm_cases()) {
      if (c.name == name) texts.push_back(c.text);
    }
  }
  const Embeddings all = embed(model, texts);
  for (const int threads : {1, 2, 3, 7}) {
    Context context({.threads = threads});
    const Embeddings again = embed(model, texts, {.batch_tokens = 40}, context);
    EXPECT_EQ(max_distance(again.values.values<float>(), all.values.values<float>()), 0) << threads;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const Embeddings alone = embed(model, {&texts[i], 1}, {}, context);
      EXPECT_EQ(max_distance(alone.values.values<float>(), row_of(all.values, static_cast<std::ptrdiff_t>(i))), 0) << i;
    }
  }
}

// Seconds of processor time: other programs of the machine do not count.
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

TEST(Minilm, TakesThisLong) {
  ATTN_REQUIRE_MINILM(dir);
  Context context({.threads = 1});
  const double before_load = processor_seconds();
  const BertModel model = load(dir, context);
  const double loading = processor_seconds() - before_load;
  TokenBatch batch;
  std::vector<std::int32_t> ids(128);
  for (int n = 0; n < 32; ++n) {
    for (int j = 0; j < 128; ++j) ids[static_cast<std::size_t>(j)] = 1000 + (n * 131 + j * 17) % 20000;
    batch.add(ids);
  }
  double best = HUGE_VAL;
  for (int run = 0; run < 2; ++run) {
    const double start = processor_seconds();
    EXPECT_EQ(model.forward(batch, context).extent(0), 32 * 128);
    best = std::min(best, processor_seconds() - start);
  }
  std::cout << "MiniLM, 1 thread (" << context.isa() << "): loading " << loading << " s, 32 texts of 128 tokens "
            << best << " s\n";
}

}  // namespace
}  // namespace attn::models
