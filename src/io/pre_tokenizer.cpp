// SPDX-License-Identifier: Apache-2.0
#include "io/pre_tokenizer.hpp"

#include "base/concat.hpp"
#include "io/json.hpp"
#include "io/unicode.hpp"

namespace attn::io {
namespace {

// Neighbours of one class form a word, except that gaps are dropped and a mark stands alone.
enum class Class { gap, mark, word, other };

Class bert_class(char32_t c) {
  if (is_whitespace(c)) return Class::gap;
  return is_punctuation(c) ? Class::mark : Class::word;
}

Class regex_class(char32_t c) {
  if (is_word(c)) return Class::word;
  return is_whitespace(c) ? Class::gap : Class::other;
}

Class space_class(char32_t c) { return is_whitespace(c) ? Class::gap : Class::word; }

template <class Classify>
void split_by(const Characters& text, std::size_t begin, std::size_t end, std::vector<Word>& words, Classify class_of) {
  Class previous = Class::gap;
  for (std::size_t i = begin; i < end; ++i) {
    const Class current = class_of(text[i].code);
    if (current != Class::gap) {
      if (current == previous && current != Class::mark)
        words.back().end = i + 1;
      else
        words.push_back({i, i + 1});
    }
    previous = current;
  }
}

}  // namespace

PreTokenizer::PreTokenizer(const JsonField& field) {
  const std::string type = field.at("type", "a string").string();
  if (type == "BertPreTokenizer")
    kind_ = Kind::bert;
  else if (type == "Whitespace")
    kind_ = Kind::whitespace;
  else if (type == "WhitespaceSplit")
    kind_ = Kind::whitespace_split;
  else
    field.fail(base::concat("type ", quote(type), ", expected BertPreTokenizer, Whitespace or WhitespaceSplit"));
}

void PreTokenizer::split(const Characters& text, std::size_t begin, std::size_t end, std::vector<Word>& words) const {
  words.clear();
  switch (kind_) {
    case Kind::whole:
      if (begin < end) words.push_back({begin, end});
      break;
    case Kind::bert:
      split_by(text, begin, end, words, bert_class);
      break;
    case Kind::whitespace:
      split_by(text, begin, end, words, regex_class);
      break;
    case Kind::whitespace_split:
      split_by(text, begin, end, words, space_class);
      break;
  }
}

}  // namespace attn::io
