// SPDX-License-Identifier: Apache-2.0
// The tokens with two numbers of the encoders that attn trains.
#include <gtest/gtest.h>

#include <attn/io/tokenizer.hpp>

#include "io/files.hpp"

namespace attn::io {
namespace {

using test::message_of;
using Ids = std::vector<std::int32_t>;
using Names = std::vector<std::string>;

std::string file_of(const std::string& unit, const std::string& vocab, const std::string& fallback,
                    const std::string& types) {
  const std::string special = R"(["<pad>", "<unk>", "<s>", "</s>")";
  return R"({"version": "1.0", "added_tokens": [], "model": {"type": "AttnContext", "unit": ")" + unit +
         R"(", "vocab": )" + special + vocab + R"(], "fallback": [)" + fallback + R"(], "types": )" + special + types +
         "]}}";
}

Tokenizer characters() {
  return Tokenizer::parse(
      file_of("characters", R"(, "_\u4e2d", "ab", "b_")", R"("a", "b", "_")", R"(, "ab", "b_", "_b")"), "t.json");
}

TEST(ContextTokens, ACharacterIsToldWithItsNeighbours) {
  const Encoding e = characters().encode("ab b");
  // "_a" is no known pair, "a" is; then "ab"; then "b_", whose second character is a space; "_b" is not.
  EXPECT_EQ(e.ids, (Ids{7, 5, 6, 8}));
  EXPECT_EQ(e.type_ids, (Ids{4, 5, 6, 5}));
  EXPECT_EQ(e.tokens, (Names{"a", "b", "_", "b"}));
  EXPECT_EQ(e.offsets, (std::vector<Span>{{0, 1}, {1, 2}, {2, 3}, {3, 4}}));
}

TEST(ContextTokens, WhatIsNotKnown) {
  const Tokenizer tokenizer = characters();
  const Encoding e = tokenizer.encode("\xE4\xB8\xADz");
  EXPECT_EQ(e.ids, (Ids{4, 1}));
  EXPECT_EQ(e.type_ids, (Ids{1, 1}));
  EXPECT_EQ(e.tokens, (Names{"\xE4\xB8\xAD", "<unk>"}));
  EXPECT_TRUE(tokenizer.encode("").ids.empty());
  EXPECT_EQ(tokenizer.encode("abab", {.max_tokens = 3}).ids, (Ids{7, 5, 7}));
  EXPECT_EQ(tokenizer.vocab_size(), 10U);
  EXPECT_EQ(tokenizer.largest_id(), 9);
  EXPECT_EQ(tokenizer.token_to_id("<pad>"), 0);
  EXPECT_EQ(tokenizer.id_to_token(8), "b");
  EXPECT_EQ(tokenizer.id_to_token(10), std::nullopt);
}

TEST(ContextTokens, AWordIsToldByItsEndsWhereItIsNew) {
  const Tokenizer tokenizer =
      Tokenizer::parse(file_of("words", R"(, "one", "<unk>")", R"("o", "t")", R"(, "e", "o")"), "t.json");
  const Encoding e = tokenizer.encode(" one  two <unk> <pad>");
  EXPECT_EQ(e.ids, (Ids{4, 7, 5, 1}));  // a text may well have "<unk>" as a word
  EXPECT_EQ(e.type_ids, (Ids{4, 5, 1, 1}));
  EXPECT_EQ(e.tokens, (Names{"one", "t", "<unk>", "<unk>"}));
  EXPECT_EQ(e.offsets, (std::vector<Span>{{1, 4}, {6, 9}, {10, 15}, {16, 21}}));
}

TEST(ContextTokens, RefusesWhatIsNone) {
  const auto message = [](const std::string& json) { return message_of([&] { Tokenizer::parse(json, "t.json"); }); };
  EXPECT_EQ(message(file_of("bytes", "", "", "")),
            R"(t.json: "model.unit": "bytes", expected "characters" or "words")");
  EXPECT_EQ(message(file_of("words", R"(, "a", "a")", "", "")), R"(t.json: "model.vocab": "a" occurs twice)");
  EXPECT_EQ(message(R"({"model": {"type": "AttnContext", "unit": "words", "vocab": []}})"),
            R"(t.json: "model.vocab": 0 names, expected at least the 4 special ones)");
}

}  // namespace
}  // namespace attn::io
