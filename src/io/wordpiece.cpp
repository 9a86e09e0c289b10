// SPDX-License-Identifier: Apache-2.0
#include "io/wordpiece.hpp"

#include <algorithm>

#include "base/concat.hpp"
#include "io/json.hpp"

namespace attn::io {
namespace {

bool is_boundary(std::string_view text, std::size_t at) {
  return at == text.size() || (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
}

}  // namespace

WordPiece::WordPiece(const JsonField& field) {
  if (const auto prefix = field.find("continuing_subword_prefix")) prefix_ = prefix->string();
  if (const auto most = field.find("max_input_chars_per_word"))
    max_characters_ = static_cast<std::size_t>(most->integer(0));
  read_vocabulary(field.at("vocab", "an object"));
  const auto given = field.find("unk_token");
  const std::string name = given ? given->string() : "[UNK]";
  const auto entry = first_.find(name);
  if (entry == first_.end())
    (given ? *given : field).fail(base::concat("the unknown token ", quote(name), " is not in the vocabulary"));
  unknown_ = entry->second;
}

void WordPiece::read_vocabulary(const JsonField& field) {
  const Json& vocabulary = field.object();
  first_.reserve(vocabulary.size());
  by_id_.reserve(vocabulary.size());
  for (const auto& [name, value] : vocabulary.items()) {
    if (!value.is_number_integer() || value < 0 || value > INT32_MAX)
      field.fail(
          base::concat(quote(name), " has the id ", text_of(value), ", expected an integer from 0 to ", INT32_MAX));
    const std::string& kept = names_.emplace_back(name);
    const Entry entry{value.get<std::int32_t>(), kept};
    first_.emplace(kept, entry);
    if (kept.starts_with(prefix_)) next_.emplace(std::string_view(kept).substr(prefix_.size()), entry);
    const auto [other, added] = by_id_.emplace(entry.id, kept);
    if (!added) field.fail(base::concat(quote(other->second), " and ", quote(name), " both have the id ", entry.id));
    largest_id_ = std::max(largest_id_, entry.id);
    longest_ = std::max(longest_, kept.size());
  }
}

void WordPiece::tokenize(const Characters& text, Word word, std::string& buffer, std::vector<Token>& tokens) const {
  const auto unknown = [&] {
    tokens.push_back({unknown_.id, unknown_.name, text[word.begin].begin, text[word.end - 1].end});
  };
  if (word.end - word.begin > max_characters_) return unknown();
  buffer.clear();
  for (std::size_t i = word.begin; i < word.end; ++i) append_utf8(text[i].code, buffer);

  const std::string_view all = buffer;
  const std::size_t before = tokens.size();
  std::size_t character = word.begin;
  for (std::size_t at = 0; at < all.size();) {
    const auto& pieces = at == 0 ? first_ : next_;
    const Entry* found = nullptr;
    std::size_t end = std::min(all.size(), at + longest_);
    for (; end > at; --end) {
      if (!is_boundary(all, end)) continue;
      const auto entry = pieces.find(all.substr(at, end - at));
      if (entry == pieces.end()) continue;
      found = &entry->second;
      break;
    }
    if (found == nullptr) {
      tokens.resize(before);
      return unknown();
    }
    const std::size_t first = character;
    for (std::size_t i = at; i < end; ++i) character += is_boundary(all, i + 1) ? 1 : 0;
    tokens.push_back({found->id, found->name, text[first].begin, text[character - 1].end});
    at = end;
  }
}

std::optional<std::int32_t> WordPiece::find(std::string_view name) const {
  const auto found = first_.find(name);
  return found == first_.end() ? std::nullopt : std::optional(found->second.id);
}

std::optional<std::string_view> WordPiece::find(std::int32_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace attn::io
