// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <attn/error.hpp>
#include <attn/models.hpp>
#include <iostream>

#include "io/files.hpp"
#include "models/bert_goldens.hpp"

namespace attn::models {
namespace {

using io::test::message_of;
using test::max_distance;
using test::row_of;
using test::tiny_cases;

BertModel tiny(const std::string& name) { return load(test::test_data("tiny_bert/" + name)); }

// i64 ids and types with a boolean mask, as a program that pads would hold them; padding holds ids no model has.
struct Padded {
  Tensor ids, types, mask;

  explicit Padded(const test::TinyCase& c) {
    const auto rows = static_cast<std::ptrdiff_t>(c.ids.size());
    ids = Tensor::empty(DType::i64, rows, c.width());
    types = Tensor::empty(DType::i64, rows, c.width());
    mask = Tensor::empty(DType::boolean, rows, c.width());
    for (std::ptrdiff_t b = 0; b < rows; ++b) {
      for (std::ptrdiff_t j = 0; j < c.width(); ++j) {
        const auto sb = static_cast<std::size_t>(b), sj = static_cast<std::size_t>(j);
        const bool is_real = j < c.lengths[sb];
        ids.view<std::int64_t, 2>()(b, j) = is_real ? c.ids[sb][sj] : 1 << 30;
        types.view<std::int64_t, 2>()(b, j) = is_real ? c.types[sb][sj] : 77;
        mask.view<bool, 2>()(b, j) = is_real;
      }
    }
  }
  PaddedTokens tokens() const { return {.ids = ids, .mask = mask, .types = types}; }
};

TEST(Bert, GivesTheExpectedHiddenStates) {
  for (const std::string& name : test::tiny_names()) {
    const BertModel model = tiny(name);
    const auto expected = io::SafeTensors::open(test::test_data("tiny_bert/" + name + ".safetensors"));
    double worst = 0;
    for (const test::TinyCase& c : tiny_cases(name)) {
      const Tensor goal = expected.tensor(c.name + ".last_hidden_state");
      const Tensor padded = model.forward(Padded(c).tokens());
      ASSERT_EQ(io::test::extents(padded.shape()), io::test::extents(goal.shape()));
      const double distance = max_distance(padded.values<float>(), goal.values<float>());
      EXPECT_LE(distance, 2e-5) << name << ' ' << c.name;
      worst = std::max(worst, distance);
    }
    std::cout << name << ": last hidden state within " << worst << '\n';
  }
}

TEST(Bert, RowsOfAPackedBatchHaveTheBitsOfAPaddedOne) {
  for (const std::string& name : test::tiny_names()) {
    const BertModel model = tiny(name);
    for (const test::TinyCase& c : tiny_cases(name)) {
      const TokenBatch batch = c.packed();
      const Tensor packed = model.forward(batch);
      const Tensor padded = model.forward(Padded(c).tokens());
      const std::ptrdiff_t width = model.config().hidden_size;
      const Tensor rows = padded.reshape(padded.size() / width, width);
      for (std::size_t b = 0; b < c.ids.size(); ++b) {
        for (std::ptrdiff_t j = 0; j < c.lengths[b]; ++j) {
          const auto alone = row_of(packed, batch.starts()[b] + j);
          const auto other = row_of(rows, static_cast<std::ptrdiff_t>(b) * c.width() + j);
          ASSERT_TRUE(std::equal(alone.begin(), alone.end(), other.begin())) << name << ' ' << c.name << ' ' << b;
        }
      }
    }
  }
}

TEST(Bert, TakesEmptyBatchesAndEmptyTexts) {
  const BertModel model = tiny("silu_one_head");
  EXPECT_EQ(io::test::extents(model.forward(TokenBatch()).shape()), (std::vector<std::ptrdiff_t>{0, 24}));
  TokenBatch with_empty, without;
  const std::vector<std::int32_t> ids{5, 6, 7};
  with_empty.add(std::vector<std::int32_t>());
  with_empty.add(ids);
  with_empty.add(std::vector<std::int32_t>());
  without.add(ids);
  const Tensor a = model.forward(with_empty), b = model.forward(without);
  EXPECT_EQ(max_distance(a.values<float>(), b.values<float>()), 0);
}

TEST(Bert, PositionsAreThoseOfTheColumns) {
  // A program that pads on the left: the model sees the text at the positions where it stands.
  const BertModel model = tiny("silu_one_head");
  const Tensor ids = Tensor::of<std::int32_t>({0, 0, 5, 6, 7}, 1, 5),
               mask = Tensor::of<std::int32_t>({0, 0, 1, 1, 1}, 1, 5);
  const Tensor found = model.forward(PaddedTokens{.ids = ids, .mask = mask});
  TokenBatch batch;
  batch.add(std::vector<std::int32_t>{5, 6, 7}, {}, std::vector<std::int32_t>{2, 3, 4});
  const Tensor expected = model.forward(batch);
  EXPECT_EQ(max_distance(found.values<float>().subspan(2 * 24), expected.values<float>()), 0);
  EXPECT_EQ(found.values<float>()[0], 0);
}

TEST(Bert, NamesWhatItCannotTake) {
  const BertModel model = tiny("silu_one_head");
  const auto run = [&](std::vector<std::int32_t> ids, std::vector<std::int32_t> types = {}) {
    return message_of([&] {
      TokenBatch batch;
      batch.add(std::vector<std::int32_t>{1, 2});
      batch.add(ids, types);
      (void)model.forward(batch);
    });
  };
  EXPECT_EQ(run({5, 98}), "BertModel::forward: batch: token id 98 at token 1 of text 1, expected 0 to 97");
  EXPECT_EQ(run({-1}), "BertModel::forward: batch: token id -1 at token 0 of text 1, expected 0 to 97");
  EXPECT_EQ(run({5}, {2}), "BertModel::forward: batch: token type 2 at token 0 of text 1, expected 0 to 1");
  EXPECT_EQ(run(std::vector<std::int32_t>(33, 5)),
            "BertModel::forward: batch: position 32 at token 32 of text 1, expected 0 to 31");
}

TEST(Bert, NamesSizesThatNoTensorContradicts) {
  const std::filesystem::path folder = test::test_data("tiny_bert/silu_one_head");
  const io::SafeTensors weights = io::SafeTensors::open_model(folder);
  const auto message = [&](const auto& change) {
    BertConfig config = read_bert_config(io::Config::load(folder / "config.json"));
    change(config);
    return message_of([&] { BertModel(config, weights); });
  };
  EXPECT_EQ(message([](BertConfig& c) { c.num_attention_heads = 0; }),
            "BertModel: num_attention_heads: 0, expected a divisor of hidden_size 24");
  EXPECT_EQ(message([](BertConfig& c) { c.num_attention_heads = 5; }),
            "BertModel: num_attention_heads: 5, expected a divisor of hidden_size 24");
  EXPECT_EQ(message([](BertConfig& c) { c.num_hidden_layers = 0; }),
            "BertModel: num_hidden_layers: 0, expected at least 1");
}

TEST(Bert, KnowsItsFolder) {
  const BertModel whole = tiny("relu_prefix"), bare = tiny("silu_one_head");
  EXPECT_TRUE(whole.has_tokenizer());
  EXPECT_EQ(whole.tokenizer().vocab_size(), 98u);
  EXPECT_EQ(whole.max_positions(), 32);
  EXPECT_EQ(whole.max_seq_length(), 24);
  EXPECT_FALSE(bare.has_tokenizer());
  EXPECT_EQ(bare.max_seq_length(), 32);
  const std::string folder = test::test_data("tiny_bert/silu_one_head").string();
  EXPECT_EQ(message_of([&] { (void)bare.tokenizer(); }),
            folder + ": tokenizer.json: missing, expected it to read texts");
}

}  // namespace
}  // namespace attn::models
