// SPDX-License-Identifier: Apache-2.0
#include "io/tokenizer_parts.hpp"

#include <algorithm>
#include <attn/error.hpp>
#include <set>

#include "base/concat.hpp"

namespace attn::io {
namespace {

// A stage of the file, or the stage that does nothing where it is absent.
template <class Stage>
Stage read_stage(const JsonField& file, std::string_view key) {
  const auto field = file.find(key);
  return field ? Stage(*field) : Stage();
}

std::vector<AddedToken> read_added(const JsonField& file) {
  const auto field = file.find("added_tokens");
  return field ? read_added_tokens(*field) : std::vector<AddedToken>();
}

Token whole(const AddedToken& token, const Characters& text, AddedTokenFinder::Piece piece) {
  return {token.id, token.content, text[piece.begin].begin, text[piece.end - 1].end};
}

}  // namespace

Tokenizer::Parts::Parts(const JsonField& file)
    : normalizer(read_stage<Normalizer>(file, "normalizer")),
      pre_tokenizer(read_stage<PreTokenizer>(file, "pre_tokenizer")),
      model(read_token_model(file.at("model", "an object"))),
      post_processor(read_stage<PostProcessor>(file, "post_processor")),
      added(read_added(file)),
      raw_finder(added, false, normalizer),
      normalized_finder(added, true, normalizer) {
  std::set<std::string_view> unseen;
  for (const AddedToken& token : added)
    if (!model->find(token.content)) unseen.insert(token.content);
  new_tokens = unseen.size();
  largest_id = model->largest_id();
  for (const AddedToken& token : added) largest_id = std::max(largest_id, token.id);
  for (const bool with_pair : {false, true}) {
    for (const PostProcessor::Part& part : post_processor.parts(with_pair)) largest_id = std::max(largest_id, part.id);
  }
}

std::vector<Token> Tokenizer::Parts::tokenize(std::string_view text, bool& replaced_invalid_utf8) const {
  if (text.size() > UINT32_MAX)
    throw Error("encode", "text", base::concat(text.size(), " bytes, expected less than 4 GiB"));
  const Characters raw = to_characters(text, replaced_invalid_utf8);
  std::vector<Token> tokens;
  Characters part;
  std::vector<Word> words;
  std::string buffer;
  for (const auto& piece : raw_finder.split(raw)) {
    if (piece.token != nullptr) {
      tokens.push_back(whole(*piece.token, raw, piece));
      continue;
    }
    part.assign(raw.begin() + static_cast<std::ptrdiff_t>(piece.begin),
                raw.begin() + static_cast<std::ptrdiff_t>(piece.end));
    normalizer.apply(part);
    for (const auto& inner : normalized_finder.split(part)) {
      if (inner.token != nullptr) {
        tokens.push_back(whole(*inner.token, part, inner));
        continue;
      }
      pre_tokenizer.split(part, inner.begin, inner.end, words);
      for (const Word word : words) model->tokenize(part, word, buffer, tokens);
    }
  }
  return tokens;
}

}  // namespace attn::io
