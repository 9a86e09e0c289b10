// SPDX-License-Identifier: Apache-2.0
// Every wrong tokenizer.json gives one sentence that names the file, the place, what was expected and what was found.
#include <gtest/gtest.h>

#include <attn/error.hpp>
#include <fstream>

#include "io/tiny_tokenizer.hpp"
#include "support/message.hpp"

namespace {

using attn::io::Tokenizer;
using attn::test::TinyTokenizer;

std::string message_of(const std::string& json) {
  return attn::test::message_of([&] { Tokenizer::parse(json, "tokenizer.json"); });
}

std::string message_of(const TinyTokenizer& tiny) { return message_of(tiny.json()); }

TEST(TokenizerErrors, OtherKindsOfModel) {
  const auto with_model = [](const char* model) { return message_of(std::string(R"({"model": )") + model + "}"); };
  EXPECT_EQ(with_model(R"({"type": "BPE", "vocab": {}, "merges": []})"),
            R"(tokenizer.json: model type "BPE", expected "WordPiece")");
  EXPECT_EQ(with_model(R"({"type": "Unigram", "vocab": []})"),
            R"(tokenizer.json: model type "Unigram", expected "WordPiece")");
  EXPECT_EQ(with_model(R"({"vocab": {}, "merges": []})"), R"(tokenizer.json: model type "BPE", expected "WordPiece")");
  EXPECT_EQ(with_model(R"({"vocab": {}})"), R"(tokenizer.json: model type "", expected "WordPiece")");
  EXPECT_EQ(with_model("7"), R"(tokenizer.json: "model": found an integer, expected an object)");
  EXPECT_EQ(message_of("{}"), R"(tokenizer.json: "model": missing, expected an object)");
}

TEST(TokenizerErrors, UnknownStages) {
  EXPECT_EQ(message_of(TinyTokenizer{.normalizer = R"({"type": "Replace"})"}),
            "tokenizer.json: \"normalizer\": type \"Replace\", expected BertNormalizer, Sequence, Lowercase, "
            "StripAccents, NFC, "
            "NFD, NFKC or NFKD");
  EXPECT_EQ(
      message_of(
          TinyTokenizer{.normalizer = R"({"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Strip"}]})"}),
      "tokenizer.json: \"normalizer.normalizers[1]\": type \"Strip\", expected BertNormalizer, Sequence, Lowercase, "
      "StripAccents, NFC, NFD, NFKC or NFKD");
  EXPECT_EQ(message_of(TinyTokenizer{.pre_tokenizer = R"({"type": "ByteLevel"})"}),
            "tokenizer.json: \"pre_tokenizer\": type \"ByteLevel\", expected BertPreTokenizer, Whitespace or "
            "WhitespaceSplit");
  EXPECT_EQ(
      message_of(TinyTokenizer{.post_processor = R"({"type": "RobertaProcessing"})"}),
      "tokenizer.json: \"post_processor\": type \"RobertaProcessing\", expected TemplateProcessing or BertProcessing");
}

TEST(TokenizerErrors, WrongVocabulary) {
  const auto with = [](const char* vocabulary) { return message_of(TinyTokenizer{.vocabulary = vocabulary}); };
  EXPECT_EQ(with(R"({"a": 0})"),
            R"(tokenizer.json: "model.unk_token": the unknown token "[UNK]" is not in the vocabulary)");
  EXPECT_EQ(with(R"({"[UNK]": 0, "a": 0})"), R"(tokenizer.json: "model.vocab": "[UNK]" and "a" both have the id 0)");
  EXPECT_EQ(with(R"({"[UNK]": -1})"),
            R"(tokenizer.json: "model.vocab": "[UNK]" has the id -1, expected an integer from 0 to 2147483647)");
  EXPECT_EQ(with(R"({"[UNK]": 0.5})"),
            R"(tokenizer.json: "model.vocab": "[UNK]" has the id 0.5, expected an integer from 0 to 2147483647)");
  EXPECT_EQ(with(R"({"[UNK]": 0, "[UNK]": 1})"), R"(tokenizer.json: the name "[UNK]" occurs twice)");
  EXPECT_EQ(with("[]"), R"(tokenizer.json: "model.vocab": found an array, expected an object)");
  EXPECT_EQ(message_of(TinyTokenizer{.model_extra = R"("max_input_chars_per_word": -1, )"}),
            R"(tokenizer.json: "model.max_input_chars_per_word": -1, expected at least 0)");
}

TEST(TokenizerErrors, WrongAddedTokens) {
  const auto with = [](const char* tokens) { return message_of(TinyTokenizer{.added_tokens = tokens}); };
  EXPECT_EQ(with("{}"), R"(tokenizer.json: "added_tokens": found an object, expected an array)");
  EXPECT_EQ(with(R"([{"id": 1}])"), R"(tokenizer.json: "added_tokens[0].content": missing, expected a string)");
  EXPECT_EQ(with(R"([{"id": 99999999999, "content": "x"}])"),
            R"(tokenizer.json: "added_tokens[0].id": 99999999999, expected at most 2147483647)");
  EXPECT_EQ(with(R"([{"id": 1, "content": "x", "lstrip": 1}])"),
            R"(tokenizer.json: "added_tokens[0].lstrip": found an integer, expected true or false)");
}

TEST(TokenizerErrors, WrongPostProcessor) {
  const auto with = [](const char* post) { return message_of(TinyTokenizer{.post_processor = post}); };
  EXPECT_EQ(with(R"({"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]"]})"),
            R"(tokenizer.json: "post_processor.cls": expected a name and an id)");
  const auto with_template = [&with](const char* single, const char* pair) {
    return with((std::string(R"({"type": "TemplateProcessing", "special_tokens": {}, "single": )") + single +
                 R"(, "pair": )" + pair + "}")
                    .c_str());
  };
  const char* a = R"([{"Sequence": {"id": "A", "type_id": 0}}])";
  EXPECT_EQ(with_template(a, a), R"(tokenizer.json: "post_processor.pair": expected the sequences A and B)");
  EXPECT_EQ(with_template("[]", a), R"(tokenizer.json: "post_processor.single": expected the sequence A and not B)");
  EXPECT_EQ(with_template(R"([{"Sequence": {"id": "C", "type_id": 0}}])", a),
            R"(tokenizer.json: "post_processor.single[0].Sequence.id": "C", expected "A" or "B")");
  EXPECT_EQ(with_template(R"([{"SpecialToken": {"id": "[CLS]", "type_id": 0}}])", a),
            R"(tokenizer.json: "post_processor.special_tokens.[CLS]": missing, expected an object)");
}

TEST(TokenizerErrors, NotJson) {
  EXPECT_EQ(message_of(""), "tokenizer.json: not valid JSON at byte 0, where it ends");
  EXPECT_EQ(message_of("[1]"), "tokenizer.json: found an array, expected an object");
  EXPECT_EQ(message_of(std::string(100000, '[')), "tokenizer.json: JSON nested deeper than 100");
}

TEST(TokenizerErrors, FileAbsent) {
  try {
    Tokenizer::load("no/such/tokenizer.json");
    FAIL();
  } catch (const attn::Error& error) {
    EXPECT_STREQ(error.what(), "no/such/tokenizer.json: no such file");
  }
}

TEST(TokenizerErrors, NoRoomForSpecialTokens) {
  try {
    TinyTokenizer().make().encode("a", {.pair = "a", .max_tokens = 2});
    FAIL();
  } catch (const attn::Error& error) {
    EXPECT_STREQ(error.what(), "encode: max_tokens: 2, expected at least the 3 special tokens");
  }
}

}  // namespace
