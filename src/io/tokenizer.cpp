// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/error.hpp>
#include <attn/io/tokenizer.hpp>

#include "base/concat.hpp"
#include "io/json.hpp"
#include "io/mapped_file.hpp"
#include "io/tokenizer_parts.hpp"

namespace attn::io {
namespace {

using Part = PostProcessor::Part;
using Source = PostProcessor::Source;

// How many tokens of each text stay where `room` in all do: the shorter text keeps its own if it can, else both get
// half.
void cut_longest_first(std::size_t room, std::size_t& text, std::size_t& pair) {
  std::size_t& shorter = text > pair ? pair : text;
  std::size_t& longer = text > pair ? text : pair;
  if (shorter <= room / 2) {
    longer = std::min(longer, room - shorter);
  } else {
    shorter = room / 2;
    longer = room - shorter;
  }
}

void append_special(const Part& part, Encoding& encoding) {
  encoding.ids.push_back(part.id);
  encoding.type_ids.push_back(part.type_id);
  encoding.tokens.push_back(part.name);
  encoding.offsets.push_back({});
  encoding.sequence.push_back(static_cast<std::int8_t>(Source::special));
}

void append_tokens(const Part& part, const std::vector<Token>& tokens, Encoding& encoding) {
  for (const Token& token : tokens) {
    encoding.ids.push_back(token.id);
    encoding.type_ids.push_back(part.type_id + token.type);
    encoding.tokens.emplace_back(token.name);
    encoding.offsets.push_back({token.begin, token.end});
    encoding.sequence.push_back(static_cast<std::int8_t>(part.source));
  }
}

}  // namespace

Tokenizer::Tokenizer(std::shared_ptr<const Parts> parts) : parts_(std::move(parts)) {}

Tokenizer Tokenizer::load(const std::filesystem::path& tokenizer_json) {
  return parse(as_text(map_file(tokenizer_json)), tokenizer_json.string());
}

Tokenizer Tokenizer::parse(std::string_view json, std::string_view name) {
  const Json file = parse_json(name, {}, json);
  return Tokenizer(std::make_shared<const Parts>(JsonField(file, name)));
}

Encoding Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  Encoding encoding;
  std::vector<Token> first = parts_->tokenize(text, encoding.replaced_invalid_utf8), second;
  if (options.pair) second = parts_->tokenize(*options.pair, encoding.replaced_invalid_utf8);

  const std::vector<Part>& parts = parts_->post_processor.parts(options.pair.has_value());
  if (options.max_tokens) {
    const auto specials = static_cast<std::size_t>(
        std::count_if(parts.begin(), parts.end(), [](const Part& part) { return part.source == Source::special; }));
    const std::size_t added = options.add_special_tokens ? specials : 0;
    if (*options.max_tokens < added)
      throw Error("encode", "max_tokens",
                  base::concat(*options.max_tokens, ", expected at least the ", added, " special tokens"));
    std::size_t text_size = first.size(), pair_size = second.size();
    const std::size_t room = *options.max_tokens - added;
    if (text_size + pair_size > room) {
      cut_longest_first(room, text_size, pair_size);
      first.resize(text_size);
      second.resize(pair_size);
      encoding.cut = true;
    }
  }

  for (const Part& part : parts) {
    if (part.source != Source::special)
      append_tokens(part, part.source == Source::text ? first : second, encoding);
    else if (options.add_special_tokens)
      append_special(part, encoding);
  }
  return encoding;
}

std::optional<std::int32_t> Tokenizer::token_to_id(std::string_view token) const {
  for (const AddedToken& added : parts_->added)
    if (added.content == token) return added.id;
  return parts_->model->find(token);
}

std::optional<std::string> Tokenizer::id_to_token(std::int32_t id) const {
  for (const AddedToken& added : parts_->added)
    if (added.id == id) return added.content;
  const std::optional<std::string_view> token = parts_->model->find(id);
  return token ? std::optional(std::string(*token)) : std::nullopt;
}

std::size_t Tokenizer::vocab_size() const noexcept { return parts_->model->size() + parts_->new_tokens; }

std::int32_t Tokenizer::largest_id() const noexcept { return parts_->largest_id; }

std::optional<std::int32_t> Tokenizer::cls_id() const { return token_to_id("[CLS]"); }
std::optional<std::int32_t> Tokenizer::sep_id() const { return token_to_id("[SEP]"); }
std::optional<std::int32_t> Tokenizer::pad_id() const { return token_to_id("[PAD]"); }

}  // namespace attn::io
