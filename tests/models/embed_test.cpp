// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <attn/error.hpp>
#include <attn/memory_pool.hpp>
#include <attn/models.hpp>
#include <cmath>

#include "io/files.hpp"
#include "models/bert_goldens.hpp"

namespace attn::models {
namespace {

using test::max_distance;
using test::row_of;

const BertModel& model() {
  static const BertModel tiny = load(test::test_data("tiny_bert/relu_prefix"));
  return tiny;
}

std::vector<std::string> texts() {
  return {"I saw a saw",
          "",
          "the cat sat on the mat. was it a good cat?",
          "小明在北京",
          "   ",
          "the very long word is not a very long word and it ran with me and you and the dog on the hat",
          "x",
          "is \xff it"};
}

TEST(Embed, PoolsTheExpectedHiddenStates) {
  for (const std::string& name : test::tiny_names()) {
    const BertModel tiny = load(test::test_data("tiny_bert/" + name));
    const auto expected = io::SafeTensors::open(test::test_data("tiny_bert/" + name + ".safetensors"));
    for (const test::TinyCase& c : test::tiny_cases(name)) {
      const Tensor pooled = pool(tiny.forward(c.packed()), c.packed(), Pooling::mean);
      const Tensor goal = expected.tensor(c.name + ".embedding");
      for (std::ptrdiff_t b = 0; b < pooled.extent(0); ++b) {
        double norm = 0;
        for (const float x : row_of(pooled, b)) norm += static_cast<double>(x) * static_cast<double>(x);
        std::vector<float> row;
        for (const float x : row_of(pooled, b))
          row.push_back(static_cast<float>(static_cast<double>(x) / std::sqrt(norm)));
        EXPECT_LE(max_distance(row, row_of(goal, b)), 5e-6) << name << ' ' << c.name;
      }
    }
  }
}

TEST(Embed, RowsAreTheTextsInOrder) {
  const auto expected = io::SafeTensors::open(test::test_data("tiny_bert/relu_prefix.safetensors"));
  std::vector<std::string> lines, names;
  for (const test::TinyCase& c : test::tiny_cases("relu_prefix")) {
    if (!c.text || c.second) continue;
    lines.push_back(*c.text);
    names.push_back(c.name + ".embedding");
  }
  const Embeddings found = embed(model(), lines);
  ASSERT_EQ(found.values.extent(0), 3);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Tensor goal = expected.tensor(names[i]);
    EXPECT_LE(max_distance(row_of(found.values, static_cast<std::ptrdiff_t>(i)), goal.values<float>()), 5e-6)
        << lines[i];
  }
}

TEST(Embed, ARowHasTheSameBitsInAnyCompanyOnAnyNumberOfThreads) {
  const std::vector<std::string> lines = texts();
  const Embeddings all = embed(model(), lines);
  for (const int threads : {1, 2, 3, 7}) {
    Context context({.threads = threads});
    for (const std::ptrdiff_t batch_tokens : {1, 30, 1000}) {
      const Embeddings again = embed(model(), lines, {.batch_tokens = batch_tokens}, context);
      EXPECT_EQ(max_distance(again.values.values<float>(), all.values.values<float>()), 0) << threads;
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const Embeddings alone = embed(model(), {&lines[i], 1}, {}, context);
      EXPECT_EQ(max_distance(alone.values.values<float>(), row_of(all.values, static_cast<std::ptrdiff_t>(i))), 0) << i;
    }
  }
}

TEST(Embed, TakesNoMemoryAfterTheFirstCall) {
  MemoryPool pool;
  Context context({.threads = 1, .memory = &pool});
  embed(model(), texts(), {.batch_tokens = 20}, context);
  const std::size_t before = pool.upstream_allocations();
  for (int i = 0; i < 3; ++i) embed(model(), texts(), {.batch_tokens = 20}, context);
  EXPECT_EQ(pool.upstream_allocations(), before);
}

TEST(Embed, TellsWhatWasCutAndReplaced) {
  const Embeddings found = embed(model(), texts());
  EXPECT_EQ(found.cut, (std::vector<std::size_t>{5}));
  EXPECT_EQ(found.replaced_invalid, (std::vector<std::size_t>{7}));
  for (std::ptrdiff_t i = 0; i < found.values.extent(0); ++i) {
    double norm = 0;
    for (const float x : row_of(found.values, i)) norm += static_cast<double>(x) * static_cast<double>(x);
    EXPECT_NEAR(norm, 1, 1e-6);
  }
}

TEST(Embed, TellsHowFarItIs) {
  std::vector<std::size_t> seen;
  const auto note = [&](std::size_t done, std::size_t total) {
    EXPECT_EQ(total, 8u);
    seen.push_back(done);
  };
  (void)embed(model(), texts(), {.batch_tokens = 30, .progress = note});
  EXPECT_GT(seen.size(), 1u);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), 8u);
}

TEST(Embed, OfNoTextsIsEmpty) {
  const Embeddings none = embed(model(), {});
  EXPECT_EQ(io::test::extents(none.values.shape()), (std::vector<std::ptrdiff_t>{0, 32}));
}

TEST(Embed, RefusesWhatItCannotDo) {
  const BertModel bare = load(test::test_data("tiny_bert/silu_one_head"));
  const std::vector<std::string> lines{"a"};
  EXPECT_NE(io::test::message_of([&] { (void)embed(bare, lines); }).find("tokenizer.json: missing"), std::string::npos);
  EXPECT_EQ(io::test::message_of([&] { (void)embed(model(), lines, {.batch_tokens = 0}); }),
            "models::embed: batch_tokens: 0, expected at least 1");
}

TEST(Embed, RefusesAnotherPooling) {
  const io::test::TempFolder folder;
  for (const auto& entry : std::filesystem::directory_iterator(test::test_data("tiny_bert/relu_prefix"))) {
    std::filesystem::copy_file(entry.path(), folder / entry.path().filename().string());
  }
  io::test::write_bytes(folder / "modules.json", R"([{"path": "", "type": "sentence_transformers.models.Dense"}])");
  const BertModel dense = load(folder.path());
  const std::vector<std::string> lines{"a"};
  EXPECT_EQ(io::test::message_of([&] { (void)embed(dense, lines); }),
            "models::embed: " + (folder / "modules.json").string() +
                R"(: module "Dense", expected "Transformer", "Pooling" or "Normalize")");
}

TEST(Pool, TakesTheMeanOrTheFirst) {
  const Tensor hidden = Tensor::of<float>({1, 2, 3, 4, 5, 9}, 3, 2);
  TokenBatch batch;
  batch.add(std::vector<std::int32_t>{1, 2});
  batch.add(std::vector<std::int32_t>());
  batch.add(std::vector<std::int32_t>{3});
  const auto pooled = [&](Pooling pooling) { return io::test::values_of<float>(pool(hidden, batch, pooling)); };
  EXPECT_EQ(pooled(Pooling::mean), (std::vector<float>{2, 3, 0, 0, 5, 9}));
  EXPECT_EQ(pooled(Pooling::cls), (std::vector<float>{1, 2, 0, 0, 5, 9}));
  const Tensor shorter = Tensor::of<float>({1, 2}, 1, 2);
  EXPECT_EQ(io::test::message_of([&] { (void)pool(shorter, batch, Pooling::mean); }),
            "models::pool: hidden: dtype f32, rank 2, 1 rows, expected f32 of rank 2 with a row for each of 3 tokens");
  const In<2> nowhere(DType::f32, nullptr, {3, 2}, {2, 1});
  EXPECT_EQ(io::test::message_of([&] { (void)pool(nowhere, batch, Pooling::mean); }),
            "models::pool: hidden: null pointer, expected memory for (3, 2)");
}

}  // namespace
}  // namespace attn::models
