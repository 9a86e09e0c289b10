// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <attn/error.hpp>
#include <attn/io/tokenizer.hpp>
#include <string>
#include <string_view>

#include "input.hpp"

namespace {

using attn::fuzz::check;
using attn::io::Encoding;
using attn::io::Tokenizer;

Tokenizer make(const std::string& normalizer, const std::string& pre_tokenizer) {
  return Tokenizer::parse(R"({"normalizer": )" + normalizer + R"(, "pre_tokenizer": {"type": ")" + pre_tokenizer +
                              R"("}, "added_tokens": [{"id": 8, "content": "<m>", "lstrip": true, "rstrip": true},
    {"id": 9, "content": "<", "special": true, "single_word": true}], "post_processor": {"type": "BertProcessing",
    "sep": ["[SEP]", 2], "cls": ["[CLS]", 1]}, "model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab":
    {"[UNK]": 0, "a": 3, "##a": 4, "ab": 5, "é": 6, "##中": 7}}})",
                          "tokenizer.json");
}

// Whatever the file says, the texts are also read by one of these, which are known to load.
const std::array<Tokenizer, 4>& known() {
  static const std::array<Tokenizer, 4> tokenizers = {
      make(R"({"type": "BertNormalizer"})", "BertPreTokenizer"), make(R"({"type": "NFC"})", "Whitespace"),
      make(R"({"type": "NFKC"})", "WhitespaceSplit"),
      make(
          R"({"type": "Sequence", "normalizers": [{"type": "NFKD"}, {"type": "StripAccents"}, {"type": "Lowercase"}]})",
          "Whitespace")};
  return tokenizers;
}

void check_encoding(const Encoding& encoding, std::string_view text, std::string_view pair) {
  const std::size_t count = encoding.ids.size();
  check(encoding.type_ids.size() == count && encoding.tokens.size() == count && encoding.offsets.size() == count &&
        encoding.sequence.size() == count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t size = encoding.sequence[i] < 0 ? 0 : encoding.sequence[i] == 0 ? text.size() : pair.size();
    check(encoding.offsets[i].begin <= encoding.offsets[i].end && encoding.offsets[i].end <= size);
  }
}

void check_tokenizer(const Tokenizer& tokenizer, std::string_view text, std::string_view pair) {
  const Encoding whole = tokenizer.encode(text, {.pair = pair});
  check_encoding(whole, text, pair);
  const std::size_t most = whole.ids.size() / 2 + 8;
  try {
    const Encoding cut = tokenizer.encode(text, {.pair = pair, .max_tokens = most});
    check_encoding(cut, text, pair);
    check(cut.ids.size() <= most || cut.ids.size() == whole.ids.size());
    check(cut.cut == (cut.ids.size() < whole.ids.size()));
  } catch (const attn::Error&) {  // no room for the special tokens
  }
  check_encoding(tokenizer.encode(text, {.add_special_tokens = false}), text, pair);
}

// The part of `rest` up to a NUL byte, which is taken off. JSON cannot hold one.
std::string_view take(std::string_view& rest) {
  const std::size_t end = std::min(rest.find('\0'), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

}  // namespace

// tokenizer.json, a text and a second text, with a NUL byte between.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::string_view json = take(rest), text = take(rest), pair = rest;
  check_tokenizer(known()[size % known().size()], text, pair);
  try {
    check_tokenizer(Tokenizer::parse(json, "tokenizer.json"), text, pair);
  } catch (const attn::Error&) {
  }
  return 0;
}
