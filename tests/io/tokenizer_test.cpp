// SPDX-License-Identifier: Apache-2.0
// Each feature of tokenizer.json on a tiny vocabulary; what `tokenizers` gives was found by running it.
#include <gtest/gtest.h>

#include <attn/error.hpp>

#include "io/tiny_tokenizer.hpp"

namespace {

using attn::io::Encoding;
using attn::io::Span;
using attn::test::bare;
using attn::test::TinyTokenizer;
using attn::test::Tokens;

Tokens tokens_of(const TinyTokenizer& tiny, std::string_view text) { return tiny.make().encode(text, bare()).tokens; }

TEST(Tokenizer, SingleText) {
  const Encoding encoding = TinyTokenizer().make().encode("I saw, sees");
  EXPECT_EQ(encoding.tokens, (Tokens{"[CLS]", "i", "saw", ",", "see", "##s", "[SEP]"}));
  EXPECT_EQ(encoding.ids, (std::vector<std::int32_t>{1, 3, 4, 9, 6, 7, 2}));
  EXPECT_EQ(encoding.offsets, (std::vector<Span>{{0, 0}, {0, 1}, {2, 5}, {5, 6}, {7, 10}, {10, 11}, {0, 0}}));
  EXPECT_EQ(encoding.type_ids, std::vector<std::int32_t>(7, 0));
  EXPECT_EQ(encoding.sequence, (std::vector<std::int8_t>{-1, 0, 0, 0, 0, 0, -1}));
  EXPECT_FALSE(encoding.cut);
}

TEST(Tokenizer, Pair) {
  const Encoding encoding = TinyTokenizer().make().encode("i", {.pair = "a saw"});
  EXPECT_EQ(encoding.tokens, (Tokens{"[CLS]", "i", "[SEP]", "a", "saw", "[SEP]"}));
  EXPECT_EQ(encoding.type_ids, (std::vector<std::int32_t>{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(encoding.sequence, (std::vector<std::int8_t>{-1, 0, -1, 1, 1, -1}));
  EXPECT_EQ(encoding.offsets, (std::vector<Span>{{0, 0}, {0, 1}, {0, 0}, {0, 1}, {2, 5}, {0, 0}}));
}

TEST(Tokenizer, EmptyText) {
  const auto tokenizer = TinyTokenizer().make();
  EXPECT_EQ(tokenizer.encode("").tokens, (Tokens{"[CLS]", "[SEP]"}));
  EXPECT_EQ(tokenizer.encode("", {.pair = ""}).tokens, (Tokens{"[CLS]", "[SEP]", "[SEP]"}));
  EXPECT_TRUE(tokenizer.encode(" \t\n", bare()).ids.empty());
}

TEST(Tokenizer, WithoutSpecialTokensTypesStay) {
  const Encoding encoding = TinyTokenizer().make().encode("i", {.pair = "a", .add_special_tokens = false});
  EXPECT_EQ(encoding.tokens, (Tokens{"i", "a"}));
  EXPECT_EQ(encoding.type_ids, (std::vector<std::int32_t>{0, 1}));
}

TEST(Tokenizer, NullStagesDoNothing) {
  const TinyTokenizer tiny{.normalizer = "null", .pre_tokenizer = "null", .post_processor = "null"};
  EXPECT_EQ(tiny.make().encode("sees").tokens, (Tokens{"see", "##s"}));
  EXPECT_EQ(tokens_of(tiny, "i saw"), (Tokens{"[UNK]"}));
  const Encoding pair = tiny.make().encode("i", {.pair = "a"});
  EXPECT_EQ(pair.type_ids, (std::vector<std::int32_t>{0, 1}));
}

TEST(Tokenizer, TemplateProcessing) {
  const TinyTokenizer tiny{.post_processor = R"({"type": "TemplateProcessing",
    "single": [{"Sequence": {"id": "A", "type_id": 3}}, {"SpecialToken": {"id": "end", "type_id": 2}}],
    "pair": [{"Sequence": {"id": "B", "type_id": 1}}, {"Sequence": {"id": "A", "type_id": 0}},
             {"SpecialToken": {"id": "end", "type_id": 1}}],
    "special_tokens": {"end": {"id": "end", "ids": [8, 9], "tokens": ["x", "y"]}}})"};
  const Encoding single = tiny.make().encode("i");
  EXPECT_EQ(single.tokens, (Tokens{"i", "x", "y"}));
  EXPECT_EQ(single.ids, (std::vector<std::int32_t>{3, 8, 9}));
  EXPECT_EQ(single.type_ids, (std::vector<std::int32_t>{3, 2, 2}));
  const Encoding pair = tiny.make().encode("i", {.pair = "a"});
  EXPECT_EQ(pair.tokens, (Tokens{"a", "i", "x", "y"}));
  EXPECT_EQ(pair.sequence, (std::vector<std::int8_t>{1, 0, -1, -1}));
}

TEST(Tokenizer, MaxTokensCutsTheLongerTextFirst) {
  const auto tokenizer = TinyTokenizer().make();
  const auto cut = [&tokenizer](std::size_t most) {
    return tokenizer.encode("i i", {.pair = "a a a a a", .max_tokens = most});
  };
  EXPECT_FALSE(cut(10).cut);
  EXPECT_EQ(cut(10).ids.size(), 10u);
  EXPECT_TRUE(cut(9).cut);
  EXPECT_EQ(cut(8).tokens, (Tokens{"[CLS]", "i", "i", "[SEP]", "a", "a", "a", "[SEP]"}));
  EXPECT_EQ(cut(6).tokens, (Tokens{"[CLS]", "i", "[SEP]", "a", "a", "[SEP]"}));
  EXPECT_EQ(cut(3).tokens, (Tokens{"[CLS]", "[SEP]", "[SEP]"}));
  const Encoding single = tokenizer.encode("i i i", {.max_tokens = 4});
  EXPECT_EQ(single.tokens, (Tokens{"[CLS]", "i", "i", "[SEP]"}));
  EXPECT_TRUE(single.cut);
  EXPECT_THROW(tokenizer.encode("i", {.max_tokens = 1}), attn::Error);
}

TEST(Tokenizer, InvalidUtf8IsReplacedAndReported) {
  const TinyTokenizer tiny{.normalizer = "null"};
  const Encoding encoding = tiny.make().encode("a \xE4\xB8 i\xFF", bare());
  EXPECT_TRUE(encoding.replaced_invalid_utf8);
  EXPECT_EQ(encoding.tokens, (Tokens{"a", "[UNK]", "[UNK]"}));
  EXPECT_EQ(encoding.offsets, (std::vector<Span>{{0, 1}, {2, 4}, {5, 7}}));
  EXPECT_TRUE(tiny.make().encode("a", {.pair = "\x80"}).replaced_invalid_utf8);
  EXPECT_FALSE(tiny.make().encode("a \xEF\xBF\xBD").replaced_invalid_utf8);
}

TEST(Tokenizer, BertNormalizerFlags) {
  const auto tokens = [](const char* flags, std::string_view text) {
    return tokens_of({.normalizer = std::string(R"({"type": "BertNormalizer", )") + flags + "}"}, text);
  };
  const char* none =
      R"("clean_text": false, "handle_chinese_chars": false, "strip_accents": false, "lowercase": false)";
  EXPECT_EQ(tokens(none, "É"), (Tokens{"É"}));
  EXPECT_EQ(tokens(none, "中中"), (Tokens{"[UNK]"}));
  EXPECT_EQ(tokens(R"("lowercase": false)", "É 中中"), (Tokens{"É", "中", "中"}));
  EXPECT_EQ(tokens(R"("lowercase": false, "strip_accents": true)", "É"), (Tokens{"E"}));
  EXPECT_EQ(tokens(R"("lowercase": true, "strip_accents": false)", "É"), (Tokens{"é"}));
  EXPECT_EQ(tokens(R"("clean_text": true)",
                   "s\u200B"
                   "aw"),
            (Tokens{"saw"}));
  EXPECT_EQ(tokens(none,
                   "s\u200B"
                   "aw"),
            (Tokens{"[UNK]"}));
}

TEST(Tokenizer, OffsetsPassOverWhatNormalisationRemoved) {
  const Encoding encoding = TinyTokenizer().make().encode(
      "\u200BS\u0301"
      "AW\u0301 中",
      bare());
  EXPECT_EQ(encoding.tokens, (Tokens{"saw", "中"}));
  // From the S to the W: the mark between lies inside, the zero-width space and the last mark outside.
  EXPECT_EQ(encoding.offsets, (std::vector<Span>{{3, 8}, {11, 14}}));
}

TEST(Tokenizer, OtherNormalizers) {
  const auto tokens = [](const char* normalizer, std::string_view text) {
    return tokens_of({.normalizer = normalizer}, text);
  };
  EXPECT_EQ(tokens(R"({"type": "Lowercase"})", "SAW"), (Tokens{"saw"}));
  EXPECT_EQ(tokens(R"({"type": "NFC"})", "e\u0301"), (Tokens{"é"}));
  EXPECT_EQ(tokens(R"({"type": "NFD"})", "é"), (Tokens{"[UNK]"}));
  EXPECT_EQ(tokens(R"({"type": "NFKC"})", "ﬁ"), (Tokens{"fi"}));
  EXPECT_EQ(tokens(R"({"type": "NFKD"})", "ﬁ"), (Tokens{"fi"}));
  EXPECT_EQ(tokens(R"({"type": "NFC"})", "ﬁ"), (Tokens{"ﬁ"}));
  EXPECT_EQ(
      tokens(
          R"({"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}, {"type": "Lowercase"}]})",
          "SÄW"),
      (Tokens{"saw"}));
}

TEST(Tokenizer, PreTokenizers) {
  const auto tokens = [](const char* type, std::string_view text) {
    return tokens_of({.pre_tokenizer = std::string(R"({"type": ")") + type + "\"}"}, text);
  };
  EXPECT_EQ(tokens("BertPreTokenizer", "a-- a"), (Tokens{"a", "-", "-", "a"}));
  EXPECT_EQ(tokens("WhitespaceSplit", "a- a"), (Tokens{"a-", "a"}));
  EXPECT_EQ(tokens("Whitespace", "a-a --"), (Tokens{"a", "-", "a", "[UNK]"}));
}

TEST(Tokenizer, LongWordsAreUnknown) {
  const TinyTokenizer tiny{.model_extra = R"("max_input_chars_per_word": 4, )"};
  EXPECT_EQ(tokens_of(tiny, "sees"), (Tokens{"see", "##s"}));
  EXPECT_EQ(tokens_of(tiny, "seess"), (Tokens{"[UNK]"}));
  const Encoding encoding = tiny.make().encode("a seess", bare());
  EXPECT_EQ(encoding.offsets.back(), (Span{2, 7}));
}

TEST(Tokenizer, ModelWithoutTypeIsKnownByItsFields) {
  std::string json = TinyTokenizer().json();
  json.replace(json.find(R"("type": "WordPiece", )"), 21, "");
  EXPECT_EQ(attn::io::Tokenizer::parse(json, "tokenizer.json").encode("saw", bare()).tokens, (Tokens{"saw"}));
}

TEST(Tokenizer, AddedTokens) {
  TinyTokenizer tiny;
  const auto with = [&tiny](const char* fields) {
    tiny.added_tokens = std::string(R"([{"id": 30, "content": "<Mask>", )") + fields + "}]";
    return tiny;
  };
  EXPECT_EQ(tokens_of(with(R"("normalized": false)"), "saw<Mask>saw"), (Tokens{"saw", "<Mask>", "saw"}));
  EXPECT_EQ(tokens_of(with(R"("normalized": false)"), "<mask>"), (Tokens{"[UNK]", "[UNK]", "[UNK]"}));
  EXPECT_EQ(tokens_of(with(R"("normalized": true)"), "A<mÁsk>a"), (Tokens{"a", "<Mask>", "a"}));
  EXPECT_EQ(tokens_of(with(R"("special": true)"), "<mask>").size(), 3u);  // a special one is not normalised by default
  EXPECT_EQ(tokens_of(with(R"("single_word": true, "normalized": false)"), "a<Mask>").size(), 4u);
  EXPECT_EQ(tokens_of(with(R"("single_word": true, "normalized": false)"), "a, <Mask>-"),
            (Tokens{"a", ",", "<Mask>", "-"}));
  const auto strip =
      with(R"("lstrip": true, "rstrip": true, "normalized": false)").make().encode("a  <Mask>\u3000a", bare());
  EXPECT_EQ(strip.ids, (std::vector<std::int32_t>{5, 30, 5}));
  EXPECT_EQ(strip.offsets[1], (Span{1, 12}));
}

TEST(Tokenizer, LongestAddedTokenWins) {
  const TinyTokenizer tiny{
      .added_tokens = R"([{"id": 30, "content": "<a", "special": true}, {"id": 31, "content": "<a>b", "special": true},
                                               {"id": 32, "content": "<a>", "special": true}])"};
  EXPECT_EQ(tiny.make().encode("<a><a>b<a", bare()).ids, (std::vector<std::int32_t>{32, 31, 30}));
}

TEST(Tokenizer, Lookups) {
  const auto tokenizer =
      TinyTokenizer{.added_tokens = R"([{"id": 30, "content": "<x>"}, {"id": 1, "content": "[CLS]"}])"}.make();
  EXPECT_EQ(tokenizer.vocab_size(), 22u);
  EXPECT_EQ(tokenizer.largest_id(), 30);
  EXPECT_EQ(tokenizer.token_to_id("<x>"), 30);
  EXPECT_EQ(tokenizer.id_to_token(30), "<x>");
  EXPECT_EQ(tokenizer.token_to_id("##s"), 7);
  EXPECT_EQ(tokenizer.id_to_token(7), "##s");
  EXPECT_FALSE(tokenizer.token_to_id("nothing").has_value());
  EXPECT_FALSE(tokenizer.id_to_token(-1).has_value());
  EXPECT_EQ(tokenizer.cls_id(), 1);
  EXPECT_EQ(tokenizer.sep_id(), 2);
  EXPECT_FALSE(tokenizer.pad_id().has_value());
}

TEST(Tokenizer, CopiesOutliveTheFirst) {
  auto first = std::make_unique<attn::io::Tokenizer>(TinyTokenizer().make());
  const attn::io::Tokenizer copy = *first;
  first.reset();
  EXPECT_EQ(copy.encode("saw", bare()).tokens, (Tokens{"saw"}));
}

}  // namespace
