// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <attn/error.hpp>
#include <attn/train/vocabulary.hpp>

namespace attn::train {
namespace {

using Texts = std::vector<std::string>;

TEST(Vocabulary, NumbersCharactersByFrequency) {
  const Vocabulary v = Vocabulary::learn(Texts{"\xC3\xA9\xC3\xA9\xC3\xA9 bb", "ab"}, {.min_count = 2});
  EXPECT_EQ(v.size(), Vocabulary::kSpecial + 2);
  // The accented letter and the b occur three times each, and ties go by the bytes.
  EXPECT_EQ(v.encode("b\xC3\xA9z"), (std::vector<std::int32_t>{4, 5, Vocabulary::kUnknown}));
  EXPECT_EQ(v.decode(v.encode("b\xC3\xA9")), "b\xC3\xA9");
  EXPECT_EQ(v.decode(std::vector<std::int32_t>{Vocabulary::kBegin, 4, Vocabulary::kUnknown}), "b\xEF\xBF\xBD");
}

TEST(Vocabulary, WordsAreWhatSpacesDivide) {
  const Vocabulary v = Vocabulary::learn(Texts{"the cat  the\tdog"}, {.kind = TokenKind::words});
  EXPECT_EQ(v.encode("the dog"), (std::vector<std::int32_t>{4, 6}));
  EXPECT_EQ(v.decode(v.encode(" the  dog ")), "the dog");
  EXPECT_EQ(v.encode_tokens(Texts{"cat", "cow"}), (std::vector<std::int32_t>{5, Vocabulary::kUnknown}));
}

TEST(Vocabulary, BytesKnowEveryText) {
  const Vocabulary v = Vocabulary::learn({}, {.kind = TokenKind::bytes});
  EXPECT_EQ(v.size(), 260);
  const std::string text("a\0\xFF\xC3\xA9", 5);
  EXPECT_EQ(v.decode(v.encode(text)), text);
}

TEST(Vocabulary, PiecesGrowFromFrequentNeighbours) {
  const Texts texts{"low low low lower lower newest newest newest", "widest, widest!"};
  const Vocabulary v = Vocabulary::learn(texts, {.kind = TokenKind::pieces, .max_size = 30});
  const auto pieces = [&](const std::string& text) {
    Texts found;
    for (const std::int32_t id : v.encode(text)) found.push_back(v.token(id));
    return found;
  };
  EXPECT_EQ(pieces("low"), Texts{" low"});
  EXPECT_EQ(pieces("newest")[0].substr(0, 1), " ");
  EXPECT_LT(pieces("lowest").size(), 4u);
  // A mark is never part of a word's piece.
  EXPECT_EQ(pieces("low!"), (Texts{" low", "!"}));
  for (const std::string text : {"lower newest, widest!", "", "low  low"}) EXPECT_EQ(v.decode(v.encode(text)), text);
  EXPECT_LE(v.size(), 30);
}

TEST(Vocabulary, ComesBackFromJson) {
  const Texts texts{"the cat sat on the mat", "a \"quoted\" word"};
  for (const TokenKind kind : {TokenKind::characters, TokenKind::words, TokenKind::bytes, TokenKind::pieces}) {
    const Vocabulary v = Vocabulary::learn(texts, {.kind = kind});
    const Vocabulary again = Vocabulary::from_json(v.to_json(), "v.json");
    EXPECT_EQ(again.to_json(), v.to_json());
    EXPECT_EQ(again.encode("the mat on the cat"), v.encode("the mat on the cat"));
  }
}

TEST(Vocabulary, RefusesWithASentence) {
  EXPECT_THROW(Vocabulary::learn({}, {.max_size = 4}), Error);
  EXPECT_THROW(Vocabulary::from_json("{}", "v.json"), Error);
  EXPECT_THROW(Vocabulary::from_json(R"({"kind": "words", "tokens": ["a", "a"]})", "v.json"), Error);
  const Vocabulary v = Vocabulary::learn(Texts{"a"}, {});
  EXPECT_THROW(v.token(5), Error);
  EXPECT_THROW(v.decode(std::vector<std::int32_t>{-1}), Error);
}

}  // namespace
}  // namespace attn::train
