// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <attn/error.hpp>
#include <attn/train/vocabulary.hpp>
#include <map>
#include <unordered_map>

#include "base/concat.hpp"
#include "io/json.hpp"
#include "io/json_field.hpp"
#include "train/pieces.hpp"

namespace attn::train {
namespace {

constexpr std::array<std::string_view, 4> kKindNames{"characters", "words", "bytes", "pieces"};
constexpr std::array<std::string_view, Vocabulary::kSpecial> kSpecialNames{"<pad>", "<unk>", "<s>", "</s>"};
constexpr std::string_view kReplacementText = "\xEF\xBF\xBD";

using Counts = std::map<std::string, std::int64_t>;

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \t\r\n", at), text.size());
    if (end > at) words.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

std::vector<std::string> split_bytes(std::string_view text) {
  std::vector<std::string> bytes;
  for (const char byte : text) bytes.emplace_back(1, byte);
  return bytes;
}

// The tokens that `count` or fewer may stay, most frequent first.
std::vector<std::string> most_frequent(const Counts& counts, std::ptrdiff_t min_count, std::ptrdiff_t count) {
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [token, times] : counts) {
    if (times >= min_count) order.emplace_back(-times, token);
  }
  std::sort(order.begin(), order.end());
  if (static_cast<std::ptrdiff_t>(order.size()) > count) order.resize(static_cast<std::size_t>(count));
  std::vector<std::string> tokens;
  for (auto& [times, token] : order) tokens.push_back(std::move(token));
  return tokens;
}

}  // namespace

struct Vocabulary::Table {
  TokenKind kind = TokenKind::characters;
  std::vector<std::string> tokens;  // after the special ones
  std::vector<Merge> merges;
  std::unordered_map<std::string, std::int32_t> ids;
  std::map<Merge, std::size_t> ranks;

  std::int32_t id_of(const std::string& token) const {
    const auto found = ids.find(token);
    return found == ids.end() ? kUnknown : found->second;
  }

  void index() {
    for (const std::string& token : tokens) {
      ids.emplace(token, static_cast<std::int32_t>(ids.size()) + kSpecial);
    }
    for (const Merge& merge : merges) ranks.emplace(merge, ranks.size());
  }

  void learn_pieces(std::span<const std::string> texts, std::ptrdiff_t room) {
    Counts words, characters;
    for (const std::string& text : texts) {
      for (const std::string& word : words_of(text)) ++words[word];
    }
    for (const auto& [word, times] : words) {
      for (const std::string& character : characters_of(word)) characters[character] += times;
    }
    tokens = most_frequent(characters, 1, room);
    merges = learn_merges(words, room - static_cast<std::ptrdiff_t>(tokens.size()));
    for (const Merge& merge : merges) tokens.push_back(merge.first + merge.second);
    // Two ways to the same piece are one token.
    std::map<std::string, bool> seen;
    std::erase_if(tokens, [&](const std::string& token) { return !seen.emplace(token, true).second; });
  }
};

Vocabulary::Vocabulary(std::shared_ptr<const Table> table) : table_(std::move(table)) {}

TokenKind token_kind_named(std::string_view name, std::string_view where) {
  const auto found = std::find(kKindNames.begin(), kKindNames.end(), name);
  if (found != kKindNames.end()) return static_cast<TokenKind>(found - kKindNames.begin());
  throw Error(where, "", base::concat(io::quote(name), ", expected characters, words, bytes or pieces"));
}

Vocabulary Vocabulary::learn(std::span<const std::string> texts, const VocabularyOptions& options) {
  if (options.max_size <= kSpecial) {
    throw Error("Vocabulary::learn", "max_size", base::concat("found ", options.max_size, ", expected 5 or more"));
  }
  auto table = std::make_shared<Table>();
  table->kind = options.kind;
  const std::ptrdiff_t room = options.max_size - kSpecial;
  if (options.kind == TokenKind::bytes) {
    for (int byte = 0; byte < 256; ++byte) table->tokens.emplace_back(1, static_cast<char>(byte));
  } else if (options.kind == TokenKind::pieces) {
    table->learn_pieces(texts, room);
  } else {
    const auto split = options.kind == TokenKind::words ? split_words : characters_of;
    Counts counts;
    for (const std::string& text : texts) {
      for (const std::string& token : split(text)) ++counts[token];
    }
    table->tokens = most_frequent(counts, options.min_count, room);
  }
  table->index();
  return Vocabulary(std::move(table));
}

Vocabulary Vocabulary::from_json(std::string_view json, std::string_view where) {
  const io::Json value = io::parse_json(where, "", json);
  const io::JsonField field(value, where);
  auto table = std::make_shared<Table>();
  table->kind = token_kind_named(field.at("kind", "a kind of tokens").string(), where);
  if (table->kind == TokenKind::bytes) return learn({}, {.kind = TokenKind::bytes});
  const io::JsonField tokens = field.at("tokens", "an array of strings");
  for (std::size_t i = 0; i < tokens.array().size(); ++i) table->tokens.push_back(tokens.element(i).string());
  if (const auto merges = field.find("merges")) {
    for (std::size_t i = 0; i < merges->array().size(); ++i) {
      const io::JsonField pair = merges->element(i);
      if (pair.array().size() != 2) pair.fail("expected two strings");
      table->merges.emplace_back(pair.element(0).string(), pair.element(1).string());
    }
  }
  table->index();
  if (table->ids.size() != table->tokens.size()) tokens.fail("a token occurs twice");
  return Vocabulary(std::move(table));
}

std::string Vocabulary::to_json() const {
  io::Json json{{"kind", kKindNames[static_cast<std::size_t>(kind())]}};
  if (kind() != TokenKind::bytes) json["tokens"] = table_->tokens;
  if (kind() == TokenKind::pieces) json["merges"] = table_->merges;
  return json.dump();
}

TokenKind Vocabulary::kind() const noexcept { return table_->kind; }
std::ptrdiff_t Vocabulary::size() const noexcept { return std::ssize(table_->tokens) + kSpecial; }

std::vector<std::int32_t> Vocabulary::encode_tokens(std::span<const std::string> tokens) const {
  std::vector<std::int32_t> ids;
  for (const std::string& token : tokens) ids.push_back(table_->id_of(token));
  return ids;
}

std::vector<std::int32_t> Vocabulary::encode(std::string_view text) const {
  switch (kind()) {
    case TokenKind::characters:
      return encode_tokens(characters_of(text));
    case TokenKind::words:
      return encode_tokens(split_words(text));
    case TokenKind::bytes:
      return encode_tokens(split_bytes(text));
    case TokenKind::pieces:
      break;
  }
  std::vector<std::int32_t> ids;
  for (const std::string& word : words_of(text)) {
    for (const std::string& piece : merged(word, table_->ranks)) ids.push_back(table_->id_of(piece));
  }
  return ids;
}

std::string Vocabulary::token(std::int32_t id) const {
  if (id < 0 || id >= size()) {
    throw Error("Vocabulary", "id", base::concat("found ", id, ", expected 0 to ", size() - 1));
  }
  return id < kSpecial ? std::string(kSpecialNames[static_cast<std::size_t>(id)])
                       : table_->tokens[static_cast<std::size_t>(id - kSpecial)];
}

std::string Vocabulary::decode(std::span<const std::int32_t> ids) const {
  std::string text;
  for (const std::int32_t id : ids) {
    const std::string found = token(id);
    if (kind() == TokenKind::words && id >= kSpecial && !text.empty()) text += ' ';
    if (id >= kSpecial) text += found;
    if (id == kUnknown) text += kReplacementText;
  }
  // The space that encode put before the first word.
  return kind() == TokenKind::pieces && text.starts_with(' ') ? text.substr(1) : text;
}

}  // namespace attn::train
