// SPDX-License-Identifier: Apache-2.0
// Every id and offset of tests/data/tokenizer, which its README describes.
#include <gtest/gtest.h>

#include <attn/io/tokenizer.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/minilm.hpp"
#include "support/test_data.hpp"

namespace {

using attn::io::Encoding;
using attn::io::Span;
using attn::io::Tokenizer;
using nlohmann::json;

std::vector<json> read_lines(const char* file) {
  std::ifstream stream(attn::test::test_data("tokenizer/") / file);
  std::vector<json> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
  return lines;
}

// Where each character of a text begins in bytes, and where the last one ends.
std::vector<std::size_t> character_bytes(const std::string& text) {
  std::vector<std::size_t> bytes;
  for (std::size_t i = 0; i < text.size(); ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) bytes.push_back(i);
  bytes.push_back(text.size());
  return bytes;
}

// The offsets of the golden, which count characters, in bytes. The texts are that of sequence 0 and that of 1.
std::vector<Span> expected_offsets(const json& line, const Encoding& encoding, const std::string (&texts)[2]) {
  const std::vector<std::size_t> bytes[2] = {character_bytes(texts[0]), character_bytes(texts[1])};
  std::vector<Span> offsets;
  for (std::size_t i = 0; i < encoding.sequence.size(); ++i) {
    const auto begin = line["offsets"].at(2 * i).get<std::size_t>(),
               end = line["offsets"].at(2 * i + 1).get<std::size_t>();
    if (encoding.sequence[i] < 0)
      offsets.push_back({begin, end});
    else
      offsets.push_back({bytes[encoding.sequence[i]].at(begin), bytes[encoding.sequence[i]].at(end)});
  }
  return offsets;
}

TEST(TokenizerGolden, EveryLine) {
  ATTN_REQUIRE_MINILM(dir);
  const Tokenizer tokenizer = Tokenizer::load(dir / "tokenizer.json");
  const std::vector<json> lines = read_lines("lines.jsonl");
  ASSERT_EQ(lines.size(), 1000u);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    SCOPED_TRACE("line " + std::to_string(i + 1) + " (" + lines[i]["kind"].get<std::string>() +
                 "): " + lines[i]["text"].dump());
    const std::string texts[2] = {lines[i]["text"].get<std::string>(), {}};
    const Encoding encoding = tokenizer.encode(texts[0]);
    ASSERT_EQ(encoding.ids, lines[i]["ids"].get<std::vector<std::int32_t>>());
    EXPECT_EQ(encoding.type_ids, std::vector<std::int32_t>(encoding.ids.size(), 0));
    EXPECT_TRUE(encoding.offsets == expected_offsets(lines[i], encoding, texts));
    EXPECT_FALSE(encoding.replaced_invalid_utf8);
    EXPECT_FALSE(encoding.cut);
  }
}

TEST(TokenizerGolden, EveryPair) {
  ATTN_REQUIRE_MINILM(dir);
  const Tokenizer tokenizer = Tokenizer::load(dir / "tokenizer.json");
  const std::vector<json> lines = read_lines("pairs.jsonl");
  ASSERT_EQ(lines.size(), 50u);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    SCOPED_TRACE("pair " + std::to_string(i + 1));
    const std::string texts[2] = {lines[i]["a"].get<std::string>(), lines[i]["b"].get<std::string>()};
    const Encoding encoding = tokenizer.encode(texts[0], {.pair = texts[1]});
    ASSERT_EQ(encoding.ids, lines[i]["ids"].get<std::vector<std::int32_t>>());
    EXPECT_EQ(encoding.type_ids, lines[i]["types"].get<std::vector<std::int32_t>>());
    EXPECT_TRUE(encoding.offsets == expected_offsets(lines[i], encoding, texts));
  }
}

TEST(TokenizerGolden, Vocabulary) {
  ATTN_REQUIRE_MINILM(dir);
  const Tokenizer tokenizer = Tokenizer::load(dir / "tokenizer.json");
  EXPECT_EQ(tokenizer.vocab_size(), 30522u);
  EXPECT_EQ(tokenizer.cls_id(), 101);
  EXPECT_EQ(tokenizer.sep_id(), 102);
  EXPECT_EQ(tokenizer.pad_id(), 0);
  EXPECT_EQ(tokenizer.id_to_token(2387), "saw");
  EXPECT_EQ(tokenizer.token_to_id("saw"), 2387);
}

}  // namespace
