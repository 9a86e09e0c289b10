// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/token_model.hpp"

namespace attn::io {

// The WordPiece model (Wu et al. 2016, "Google's Neural Machine Translation System", section 4.1): takes the longest
// piece of the vocabulary that begins a word, then the longest that continues it, and so on; a word that leaves a rest
// is one unknown token.
class WordPiece final : public TokenModel {
 public:
  // From "model" of tokenizer.json. Throws attn::Error on a vocabulary that is no vocabulary.
  explicit WordPiece(const JsonField& field);
  WordPiece(const WordPiece&) = delete;  // the maps refer to names_
  WordPiece& operator=(const WordPiece&) = delete;

  // Time is at most the word's length times that of the longest piece.
  void tokenize(const Characters& text, Word word, std::string& buffer, std::vector<Token>& tokens) const override;

  std::optional<std::int32_t> find(std::string_view name) const override;
  std::optional<std::string_view> find(std::int32_t id) const override;
  std::size_t size() const noexcept override { return names_.size(); }
  std::int32_t largest_id() const noexcept override { return largest_id_; }

 private:
  struct Entry {
    std::int32_t id;
    std::string_view name;
  };

  void read_vocabulary(const JsonField& field);

  std::deque<std::string> names_;
  std::unordered_map<std::string_view, Entry> first_;  // every token, by its name
  std::unordered_map<std::string_view, Entry> next_;   // those that continue a word, by their name without the prefix
  std::unordered_map<std::int32_t, std::string_view> by_id_;
  std::int32_t largest_id_ = 0;
  std::size_t longest_ = 0;  // bytes of the longest name
  std::string prefix_ = "##";
  std::size_t max_characters_ = 100;
  Entry unknown_{};
};

}  // namespace attn::io
