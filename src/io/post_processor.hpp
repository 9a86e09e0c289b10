// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/json_field.hpp"

namespace attn::io {

// The last stage of a tokenizer: where the tokens of a text, or of a pair of texts, stand among special tokens.
class PostProcessor {
 public:
  enum class Source : std::int8_t { special = -1, text = 0, pair = 1 };

  struct Part {
    Source source = Source::special;
    std::int32_t type_id = 0;
    std::int32_t id = 0;  // of a special token, as its name
    std::string name = {};
  };

  PostProcessor();  // the text with type 0, then the pair with type 1, no special tokens

  // From "post_processor" of tokenizer.json. Throws attn::Error on a type that is not known.
  explicit PostProcessor(const JsonField& field);

  const std::vector<Part>& parts(bool with_pair) const noexcept { return with_pair ? pair_ : single_; }

 private:
  void read_bert(const JsonField& field);
  void read_template(const JsonField& field);

  std::vector<Part> single_, pair_;
};

}  // namespace attn::io
