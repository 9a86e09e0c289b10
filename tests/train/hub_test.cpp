// SPDX-License-Identifier: Apache-2.0
// An exported encoder, read as the BERT that it then is, beside the encoder itself.
#include <gtest/gtest.h>

#include <attn/io/config.hpp>
#include <attn/models.hpp>
#include <attn/nn/linear.hpp>
#include <attn/train/hub.hpp>

#include "io/files.hpp"
#include "support/random.hpp"
#include "train/text_rows.hpp"

namespace attn::train {
namespace {

using io::test::message_of;
using io::test::TempFolder;

Recipe recipe_of(TaskKind task, TokenKind kind) {
  return {.task = task,
          .tokens = {.kind = kind},
          .model = {.width = 16, .layers = 2, .heads = 2, .feedforward = 24, .max_tokens = 12}};
}

Lexicon lexicon_of(const Recipe& recipe, const std::vector<std::string>& texts) {
  std::vector<std::vector<std::string>> tokens;
  for (const std::string& text : texts) tokens.push_back(tokens_of(text, recipe.tokens.kind));
  return {learn_streams(tokens, recipe.tokens), {"a", "b", "c"}};
}

// Every parameter, biases and norms too, gets numbers that would show if it were left out.
models::TextEncoder encoder_of(const Recipe& recipe, const Lexicon& lexicon) {
  models::TextEncoder model(encoder_shape(recipe, lexicon));
  nn::initialise(model);
  std::uint64_t seed = 1;
  for (const nn::NamedParameter& parameter : nn::parameters(model)) {
    Tensor value = parameter.variable.value();
    test::Random random(seed++);
    for (float& x : value.values<float>()) x += 0.3f * static_cast<float>(random.normal());
  }
  return model;
}

void expect_close(const Tensor& found, const Tensor& expected) {
  const std::span<const float> a = found.values<float>(), b = expected.values<float>();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5) << i;
}

void expect_same_outputs(const Recipe& recipe, const std::vector<std::string>& known,
                         const std::vector<std::string>& read) {
  const Lexicon lexicon = lexicon_of(recipe, known);
  models::TextEncoder model = encoder_of(recipe, lexicon);
  const TempFolder folder;
  export_hub(folder / "hub", recipe, lexicon, nn::parameters(model));

  const models::BertModel bert = models::load(folder / "hub");
  nn::Linear classifier({.in_features = 16, .out_features = 3});
  const io::SafeTensors file = io::SafeTensors::open_model(folder / "hub");
  classifier.load({{"weight", file.tensor("classifier.weight")}, {"bias", file.tensor("classifier.bias")}});
  const autograd::NoGrad no_grad;
  for (const std::string& text : read) {
    const std::vector<TextRow> row{row_of(tokens_of(text, recipe.tokens.kind), lexicon, recipe)};
    const io::Encoding encoding = bert.tokenizer().encode(text, {.max_tokens = 12});
    ASSERT_EQ(std::ssize(encoding.ids), row[0].tokens()) << text;
    const Tensor hidden = bert.forward(models::TokenBatch(encoding));
    expect_close(hidden, model.encode(batch_of(row, {0})).value());
    expect_close(classifier(hidden), model.classify_tokens(batch_of(row, {0})).value());
  }
}

TEST(Hub, CharactersAreReadInTheirContext) {
  expect_same_outputs(recipe_of(TaskKind::entities, TokenKind::characters), {"abcab", "b a\xE4\xB8\xAD"},
                      {"abcab", "cb \xE4\xB8\xAD z ab", "a", " ", "abababababababababab"});
}

TEST(Hub, NewWordsAreReadByTheirEnds) {
  expect_same_outputs(recipe_of(TaskKind::tagging, TokenKind::words), {"one two three", "two \xE4\xB8\xADx"},
                      {"one two", "tone two  xyz <unk> thx \xE4\xB8\xAD", "three"});
}

TEST(Hub, NamesClassesAndSizes) {
  const Recipe recipe = recipe_of(TaskKind::reviews, TokenKind::characters);
  const Lexicon lexicon = lexicon_of(recipe, {"ab"});
  models::TextEncoder model = encoder_of(recipe, lexicon);
  const TempFolder folder;
  export_hub(folder.path(), recipe, lexicon, nn::parameters(model));
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"README.md", "attn_hub.py", "config.json", "model.safetensors",
                                                      "tokenizer.json", "tokenizer_config.json"}));
  const io::Config config = io::Config::load(folder / "config.json");
  EXPECT_EQ(config.get<std::int64_t>("vocab_size"), 4 + 2 + 2);
  EXPECT_EQ(config.get<std::int64_t>("type_vocab_size"), 4 + 2);
  const std::string text = io::test::read_bytes(folder / "config.json");
  EXPECT_NE(text.find("\"2\": \"c\""), std::string::npos);
}

TEST(Hub, RefusesOtherModels) {
  const Recipe recipe = recipe_of(TaskKind::reviews, TokenKind::characters);
  const Lexicon lexicon = lexicon_of(recipe, {"ab"});
  const TempFolder folder;
  EXPECT_EQ(message_of([&] { export_hub(folder / "hub", recipe_of(TaskKind::images, {}), lexicon, {}); }),
            "export_hub: task: images, expected reviews, tagging or entities");
  EXPECT_NE(
      message_of([&] { export_hub(folder / "hub", recipe, lexicon, {}); }).find("expected those of a text encoder"),
      std::string::npos);
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace
}  // namespace attn::train
