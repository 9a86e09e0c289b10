// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/io/tokenizer.hpp>
#include <map>
#include <string>
#include <vector>

namespace attn::test {

// The sections of a small tokenizer.json as JSON text; a case of a test changes one or two.
struct TinyTokenizer {
  std::string normalizer =
      R"({"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true})";
  std::string pre_tokenizer = R"({"type": "BertPreTokenizer"})";
  std::string post_processor = R"({"type": "BertProcessing", "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]})";
  std::string added_tokens = "[]";
  std::string vocabulary =
      R"({"[UNK]": 0, "[CLS]": 1, "[SEP]": 2, "i": 3, "saw": 4, "a": 5, "see": 6, "##s": 7, "##aw": 8, ",": 9, "中": 10,
          "é": 11, "E": 12, "##e": 13, "I": 14, "ﬁ": 15, "fi": 16, "s": 17, "É": 18, "-": 19, "a-": 20})";
  std::string model_extra = {};  // further fields of the model, each with its comma

  std::string json() const {
    return R"({"version": "1.0", "truncation": {"max_length": 2}, "padding": {"strategy": {"Fixed": 9}}, "added_tokens": )" +
           added_tokens + R"(, "normalizer": )" + normalizer + R"(, "pre_tokenizer": )" + pre_tokenizer +
           R"(, "post_processor": )" + post_processor + R"(, "decoder": null, "model": {"type": "WordPiece", )" +
           model_extra + R"("unk_token": "[UNK]", "continuing_subword_prefix": "##", "vocab": )" + vocabulary + "}}";
  }

  io::Tokenizer make() const { return io::Tokenizer::parse(json(), "tokenizer.json"); }
};

using Tokens = std::vector<std::string>;

inline io::EncodeOptions bare() { return {.add_special_tokens = false}; }

}  // namespace attn::test
