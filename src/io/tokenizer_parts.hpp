// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/io/tokenizer.hpp>
#include <unordered_map>
#include <vector>

#include "io/added_tokens.hpp"
#include "io/normalizer.hpp"
#include "io/post_processor.hpp"
#include "io/pre_tokenizer.hpp"
#include "io/token_model.hpp"

namespace attn::io {

// What tokenizer.json says, stage by stage.
struct Tokenizer::Parts {
  explicit Parts(const JsonField& file);
  Parts(const Parts&) = delete;  // the finders refer to added
  Parts& operator=(const Parts&) = delete;

  // The tokens of one text, without those that the post-processor adds.
  std::vector<Token> tokenize(std::string_view text, bool& replaced_invalid_utf8) const;

  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  std::unique_ptr<const TokenModel> model;
  PostProcessor post_processor;
  std::vector<AddedToken> added;
  AddedTokenFinder raw_finder, normalized_finder;
  std::size_t new_tokens = 0;  // those added ones that the model does not have
  std::int32_t largest_id = 0;
};

}  // namespace attn::io
