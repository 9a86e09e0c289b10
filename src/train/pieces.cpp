// SPDX-License-Identifier: Apache-2.0
#include "train/pieces.hpp"

#include <algorithm>
#include <set>

#include "io/unicode.hpp"
#include "io/utf8.hpp"

namespace attn::train {
namespace {

struct Word {
  std::vector<std::string> pieces;
  std::int64_t count;
};

// How often each pair of neighbours occurs, and in which words.
class Pairs {
 public:
  explicit Pairs(const std::vector<Word>& words) {
    for (std::size_t w = 0; w < words.size(); ++w) add(words[w], w, 1);
  }
  // The most frequent pair; of equals the first by its bytes.
  const std::pair<std::int64_t, Merge>& best() const { return *order_.begin(); }
  bool empty() const { return order_.empty(); }
  std::set<std::size_t> words_with(const Merge& pair) const { return entries_.at(pair).words; }

  void add(const Word& word, std::size_t number, int sign) {
    for (std::size_t i = 0; i + 1 < word.pieces.size(); ++i) {
      const Merge pair{word.pieces[i], word.pieces[i + 1]};
      Entry& entry = entries_[pair];
      order_.erase({-entry.count, pair});
      entry.count += sign * word.count;
      // A word that has lost the pair is left in the set: looking at it once more does no harm.
      entry.words.insert(number);
      if (entry.count > 0) order_.insert({-entry.count, pair});
    }
  }

 private:
  struct Entry {
    std::int64_t count = 0;
    std::set<std::size_t> words;
  };
  std::map<Merge, Entry> entries_;
  std::set<std::pair<std::int64_t, Merge>> order_;  // by the negative count
};

void merge_in(std::vector<std::string>& pieces, const Merge& pair) {
  std::vector<std::string> after;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const bool is_pair = i + 1 < pieces.size() && pieces[i] == pair.first && pieces[i + 1] == pair.second;
    after.push_back(is_pair ? pair.first + pair.second : pieces[i]);
    i += is_pair;
  }
  pieces = std::move(after);
}

}  // namespace

std::vector<std::string> characters_of(std::string_view text) {
  std::vector<std::string> characters;
  for (std::size_t at = 0; at < text.size();) {
    const io::Decoded next = io::decode_utf8(text, at);
    io::append_utf8(next.code, characters.emplace_back());
    at += next.bytes;
  }
  return characters;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool was_word = true;
  std::string spaced(1, ' ');
  spaced += text;
  for (const std::string& character : characters_of(spaced)) {
    const bool is_space = character == " ";
    const bool is_word = io::is_word(io::decode_utf8(character, 0).code);
    const bool after_space = !words.empty() && words.back() == " ";
    if (words.empty() || is_space || (is_word != was_word && !after_space)) words.emplace_back();
    words.back() += character;
    was_word = is_word;
  }
  return words;
}

std::vector<Merge> learn_merges(const std::map<std::string, std::int64_t>& word_counts, std::ptrdiff_t count) {
  std::vector<Word> words;
  for (const auto& [text, times] : word_counts) words.push_back({characters_of(text), times});
  Pairs pairs(words);
  std::vector<Merge> merges;
  while (static_cast<std::ptrdiff_t>(merges.size()) < count && !pairs.empty()) {
    const auto [negative, pair] = pairs.best();
    if (-negative < 2) break;
    for (const std::size_t w : pairs.words_with(pair)) {
      pairs.add(words[w], w, -1);
      merge_in(words[w].pieces, pair);
      pairs.add(words[w], w, 1);
    }
    merges.push_back(pair);
  }
  return merges;
}

std::vector<std::string> merged(std::string_view word, const std::map<Merge, std::size_t>& ranks) {
  std::vector<std::string> pieces = characters_of(word);
  while (pieces.size() > 1) {
    auto best = ranks.end();
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
      const auto found = ranks.find({pieces[i], pieces[i + 1]});
      if (found != ranks.end() && (best == ranks.end() || found->second < best->second)) best = found;
    }
    if (best == ranks.end()) break;
    merge_in(pieces, best->first);
  }
  return pieces;
}

}  // namespace attn::train
