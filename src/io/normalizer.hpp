// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "io/characters.hpp"
#include "io/json_field.hpp"

namespace attn::io {

// The first stage of a tokenizer: rewrites characters, each of which keeps the place in the original text that
// `tokenizers` gives it. A removed character belongs to nobody; an added one shares the place of what it came from.
class Normalizer {
 public:
  Normalizer() = default;  // changes nothing

  // From "normalizer" of tokenizer.json. Throws attn::Error on a type that is not known.
  explicit Normalizer(const JsonField& field);

  void apply(Characters& text) const;

 private:
  enum class Step { clean, space_chinese, strip_nonspacing, strip_combining, lower, nfd, nfkd, nfc, nfkc };

  void add(const JsonField& field);
  void add_bert(const JsonField& field);

  std::vector<Step> steps_;
};

}  // namespace attn::io
