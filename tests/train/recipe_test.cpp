// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <attn/error.hpp>
#include <attn/train/recipe.hpp>

namespace attn::train {
namespace {

TEST(Recipe, TakesWhatIsGivenAndKeepsTheRest) {
  const Recipe recipe = parse_recipe(R"({"task": "tagging", "data": "d", "tokens": {"kind": "words", "min_count": 2},
      "model": {"width": 96, "heads": 6}, "training": {"steps": 20, "warmup": 5, "learning_rate": 2e-3, "seed": 7,
      "precision": "bf16", "average": 0.99}})",
                                     "r.json");
  EXPECT_EQ(recipe.task, TaskKind::tagging);
  EXPECT_EQ(recipe.data, "d");
  EXPECT_EQ(recipe.tokens.kind, TokenKind::words);
  EXPECT_EQ(recipe.tokens.min_count, 2);
  EXPECT_EQ(recipe.model.width, 96);
  EXPECT_EQ(recipe.model.layers, ModelRecipe{}.layers);
  EXPECT_EQ(recipe.training.steps, 20);
  EXPECT_EQ(recipe.training.learning_rate, 2e-3);
  EXPECT_EQ(recipe.training.seed, 7u);
  EXPECT_EQ(recipe.training.average, 0.99);
  EXPECT_EQ(recipe.training.precision, DType::bf16);
}

struct Refusal {
  std::string members, sentence;
};

TEST(Recipe, RefusesWithOneSentence) {
  const Refusal refusals[] = {
      {R"("model": {"widths": 64})", R"(r.json: "model": unknown key "widths"; did you mean "width"?)"},
      {R"("extra": 1)", R"(r.json: unknown key "extra")"},
      {R"("model": {"width": "64"})", R"(r.json: "model.width": found a string, expected an integer)"},
      {R"("model": {"width": 64, "heads": 5})", R"(r.json: "model": width 64, expected a multiple of heads, 5)"},
      {R"("model": {"dropout": 1.5})", R"(r.json: "model.dropout": found 1.5, expected 0 up to below 1)"},
      {R"("model": {"token_dropout": 1})", R"(r.json: "model.token_dropout": found 1, expected 0 up to below 1)"},
      {R"("model": {"patch": 5})", R"(r.json: "model": patch 5, expected a divisor of 28)"},
      {R"("training": {"learning_rate": -1})", R"(r.json: "training.learning_rate": found -1, expected 0 to 10)"},
      {R"("training": {"steps": 5, "warmup": 6})", R"(r.json: "training": warmup 6, expected at most steps, 5)"},
      {R"("training": {"average": 1})", R"(r.json: "training.average": found 1, expected 0 up to below 1)"},
      {R"("training": {"precision": "f8"})", R"(r.json: "training.precision": found "f8", expected f32, bf16 or f16)"},
      {R"("tokens": {"kind": "syllables"})", R"(r.json: "syllables", expected characters, words, bytes or pieces)"},
  };
  for (const auto& [members, sentence] : refusals) {
    try {
      parse_recipe(R"({"task": "images", "data": "d", )" + members + "}", "r.json");
      ADD_FAILURE() << "expected: " << sentence;
    } catch (const Error& e) {
      EXPECT_EQ(e.what(), sentence);
    }
  }
  EXPECT_THROW(parse_recipe(R"({"task": "image", "data": "d"})", "r.json"), Error);
  EXPECT_THROW(parse_recipe(R"({"task": "images"})", "r.json"), Error);
  EXPECT_THROW(parse_recipe(R"({"task": "images", "data": ""})", "r.json"), Error);
  EXPECT_THROW(parse_recipe("[]", "r.json"), Error);
}

}  // namespace
}  // namespace attn::train
