// SPDX-License-Identifier: Apache-2.0
#include "io/context_tokens.hpp"

#include "base/concat.hpp"
#include "io/json.hpp"

namespace attn::io {
namespace {

// A character as the vocabularies write it.
std::string written(char32_t code) {
  std::string text;
  append_utf8(code == U' ' ? U'_' : code, text);
  return text;
}

}  // namespace

std::optional<std::int32_t> ContextTokens::Names::find(std::string_view name) const {
  const auto found = numbers.find(name);
  return found == numbers.end() ? std::nullopt : std::optional(found->second);
}

ContextTokens::ContextTokens(const JsonField& field) {
  const JsonField unit = field.at("unit", "\"characters\" or \"words\"");
  is_words_ = unit.string() == "words";
  if (!is_words_ && unit.string() != "characters") {
    unit.fail(base::concat(quote(unit.string()), ", expected \"characters\" or \"words\""));
  }
  vocabulary_ = read_names(field.at("vocab", "an array of strings"), kSpecial);
  fallback_ = read_names(field.at("fallback", "an array of strings"), 0);
  types_ = read_names(field.at("types", "an array of strings"), kSpecial);
}

ContextTokens::Names ContextTokens::read_names(const JsonField& field, std::size_t special) {
  const std::size_t count = field.array().size();
  if (count < special) field.fail(base::concat(count, " names, expected at least the ", special, " special ones"));
  Names names;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& name = names.names.emplace_back(field.element(i).string());
    if (i < special || names.numbers.emplace(name, static_cast<std::int32_t>(i)).second) continue;
    field.fail(base::concat(quote(name), " occurs twice"));
  }
  return names;
}

std::pair<std::int32_t, std::string_view> ContextTokens::lookup(std::string_view whole, std::string_view part) const {
  if (const auto id = vocabulary_.find(whole)) return {*id, vocabulary_.names[static_cast<std::size_t>(*id)]};
  const auto number = fallback_.find(part);
  if (!number) return {kUnknown, vocabulary_.names[kUnknown]};
  return {*number + static_cast<std::int32_t>(vocabulary_.names.size()),
          fallback_.names[static_cast<std::size_t>(*number)]};
}

void ContextTokens::tokenize(const Characters& text, Word word, std::string&, std::vector<Token>& tokens) const {
  if (is_words_) {
    tokenize_words(text, word, tokens);
  } else {
    tokenize_characters(text, word, tokens);
  }
}

void ContextTokens::tokenize_characters(const Characters& text, Word word, std::vector<Token>& tokens) const {
  std::string before = "_", current = written(text[word.begin].code);
  for (std::size_t i = word.begin; i < word.end; ++i) {
    std::string after = i + 1 == word.end ? "_" : written(text[i + 1].code);
    const auto [id, name] = lookup(before + current, current);
    // A pair is shown as its own character, the second one.
    const bool is_pair = id >= kSpecial && static_cast<std::size_t>(id) < vocabulary_.names.size();
    tokens.push_back({id, is_pair ? name.substr(decode_utf8(name, 0).bytes) : name, text[i].begin, text[i].end,
                      types_.find(current + after).value_or(kUnknown)});
    before = std::move(current);
    current = std::move(after);
  }
}

void ContextTokens::tokenize_words(const Characters& text, Word word, std::vector<Token>& tokens) const {
  std::string whole;
  for (std::size_t begin = word.begin, end; begin < word.end; begin = end + 1) {
    whole.clear();
    for (end = begin; end < word.end && text[end].code != U' '; ++end) append_utf8(text[end].code, whole);
    if (begin == end) continue;
    const auto [id, name] = lookup(whole, written(text[begin].code));
    tokens.push_back(
        {id, name, text[begin].begin, text[end - 1].end, types_.find(written(text[end - 1].code)).value_or(kUnknown)});
  }
}

std::optional<std::int32_t> ContextTokens::find(std::string_view name) const {
  for (std::int32_t i = 0; i < kSpecial; ++i) {
    if (vocabulary_.names[static_cast<std::size_t>(i)] == name) return i;
  }
  return vocabulary_.find(name);
}

std::optional<std::string_view> ContextTokens::find(std::int32_t id) const {
  const auto at = static_cast<std::size_t>(id);
  if (id < 0 || at >= size()) return std::nullopt;
  const std::size_t known = vocabulary_.names.size();
  return at < known ? vocabulary_.names[at] : fallback_.names[at - known];
}

}  // namespace attn::io
