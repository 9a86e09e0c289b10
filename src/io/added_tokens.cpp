// SPDX-License-Identifier: Apache-2.0
#include "io/added_tokens.hpp"

#include <algorithm>

#include "io/unicode.hpp"

namespace attn::io {
namespace {

bool flag(const JsonField& field, const char* key, bool absent) {
  const auto found = field.find(key);
  return found ? found->boolean() : absent;
}

bool is_single(const Characters& text, std::size_t begin, std::size_t end) {
  return (begin == 0 || !is_word(text[begin - 1].code)) && (end == text.size() || !is_word(text[end].code));
}

}  // namespace

std::vector<AddedToken> read_added_tokens(const JsonField& field) {
  std::vector<AddedToken> tokens;
  for (std::size_t i = 0; i < field.array().size(); ++i) {
    const JsonField element = field.element(i);
    AddedToken token;
    token.content = element.at("content", "a string").string();
    token.id = static_cast<std::int32_t>(element.at("id", "an integer").integer(0, INT32_MAX));
    token.single_word = flag(element, "single_word", false);
    token.lstrip = flag(element, "lstrip", false);
    token.rstrip = flag(element, "rstrip", false);
    token.normalized = flag(element, "normalized", !flag(element, "special", false));
    if (!token.content.empty()) tokens.push_back(std::move(token));
  }
  return tokens;
}

AddedTokenFinder::AddedTokenFinder(const std::vector<AddedToken>& tokens, bool normalized,
                                   const Normalizer& normalizer) {
  for (const AddedToken& token : tokens) {
    if (token.normalized != normalized) continue;
    bool replaced = false;
    Characters content = to_characters(token.content, replaced);
    if (normalized) normalizer.apply(content);
    if (content.empty()) continue;
    Pattern pattern{{}, &token};
    for (const Character& c : content) pattern.content.push_back(c.code);
    const char32_t first = content.front().code;
    begins_[first & 0xFF] = true;
    patterns_[first].push_back(std::move(pattern));
  }
  for (auto& [first, patterns] : patterns_)
    std::stable_sort(patterns.begin(), patterns.end(),
                     [](const Pattern& a, const Pattern& b) { return a.content.size() > b.content.size(); });
}

const AddedTokenFinder::Pattern* AddedTokenFinder::match(const Characters& text, std::size_t at) const {
  if (!begins_[text[at].code & 0xFF]) return nullptr;
  const auto found = patterns_.find(text[at].code);
  if (found == patterns_.end()) return nullptr;
  for (const Pattern& pattern : found->second) {
    if (pattern.content.size() > text.size() - at) continue;
    if (std::equal(pattern.content.begin(), pattern.content.end(), text.begin() + static_cast<std::ptrdiff_t>(at),
                   [](char32_t c, const Character& other) { return c == other.code; }))
      return &pattern;
  }
  return nullptr;
}

std::vector<AddedTokenFinder::Piece> AddedTokenFinder::split(const Characters& text) const {
  std::vector<Piece> pieces;
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    const Pattern* pattern = match(text, at);
    if (pattern == nullptr) {
      ++at;
      continue;
    }
    std::size_t begin = at, end = at + pattern->content.size();
    at = end;
    if (pattern->token->single_word && !is_single(text, begin, end)) continue;
    if (pattern->token->lstrip)
      while (begin > done && is_whitespace(text[begin - 1].code)) --begin;
    if (pattern->token->rstrip)
      while (end < text.size() && is_whitespace(text[end].code)) ++end;
    if (done < begin) pieces.push_back({done, begin, nullptr});
    pieces.push_back({begin, end, pattern->token});
    at = done = end;
  }
  if (done < text.size()) pieces.push_back({done, text.size(), nullptr});
  return pieces;
}

}  // namespace attn::io
