// SPDX-License-Identifier: Apache-2.0
#include "io/post_processor.hpp"

#include <algorithm>

#include "base/concat.hpp"
#include "io/json.hpp"

namespace attn::io {
namespace {

using Part = PostProcessor::Part;
using Source = PostProcessor::Source;

std::int32_t small(const JsonField& field) { return static_cast<std::int32_t>(field.integer(0, INT32_MAX)); }

// ["[CLS]", 101]
Part read_named(const JsonField& field) {
  if (field.array().size() != 2) field.fail("expected a name and an id");
  return {.id = small(field.element(1)), .name = field.element(0).string()};
}

// {"Sequence": {"id": "A", "type_id": 0}} or {"SpecialToken": {"id": "[CLS]", "type_id": 0}}, the latter looked up in
// `special`, where one name may stand for several tokens.
void read_piece(const JsonField& field, const JsonField& special, std::vector<Part>& parts) {
  if (const auto sequence = field.find("Sequence")) {
    const JsonField id = sequence->at("id", "\"A\" or \"B\"");
    if (id.string() != "A" && id.string() != "B")
      id.fail(base::concat(quote(id.string()), ", expected \"A\" or \"B\""));
    const Source source = id.string() == "A" ? Source::text : Source::pair;
    parts.push_back({.source = source, .type_id = small(sequence->at("type_id", "an integer"))});
    return;
  }
  const JsonField token = field.at("SpecialToken", "Sequence or SpecialToken");
  const std::int32_t type_id = small(token.at("type_id", "an integer"));
  const JsonField named = special.at(token.at("id", "a string").string(), "an object");
  const JsonField ids = named.at("ids", "an array"), names = named.at("tokens", "an array");
  if (ids.array().size() != names.array().size()) named.fail("expected as many ids as tokens");
  for (std::size_t i = 0; i < ids.array().size(); ++i)
    parts.push_back({.type_id = type_id, .id = small(ids.element(i)), .name = names.element(i).string()});
}

bool uses(const std::vector<Part>& parts, Source source) {
  return std::any_of(parts.begin(), parts.end(), [source](const Part& part) { return part.source == source; });
}

}  // namespace

PostProcessor::PostProcessor()
    : single_{{.source = Source::text}}, pair_{{.source = Source::text}, {.source = Source::pair, .type_id = 1}} {}

PostProcessor::PostProcessor(const JsonField& field) {
  const std::string type = field.at("type", "a string").string();
  if (type == "BertProcessing")
    read_bert(field);
  else if (type == "TemplateProcessing")
    read_template(field);
  else
    field.fail(base::concat("type ", quote(type), ", expected TemplateProcessing or BertProcessing"));
}

void PostProcessor::read_bert(const JsonField& field) {
  const Part cls = read_named(field.at("cls", "a name and an id"));
  const Part sep = read_named(field.at("sep", "a name and an id"));
  Part last = sep;
  last.type_id = 1;
  single_ = {cls, {.source = Source::text}, sep};
  pair_ = {cls, {.source = Source::text}, sep, {.source = Source::pair, .type_id = 1}, last};
}

void PostProcessor::read_template(const JsonField& field) {
  const JsonField special = field.at("special_tokens", "an object");
  const auto read = [&special](const JsonField& pieces) {
    std::vector<Part> parts;
    for (std::size_t i = 0; i < pieces.array().size(); ++i) read_piece(pieces.element(i), special, parts);
    return parts;
  };
  const JsonField single = field.at("single", "an array"), pair = field.at("pair", "an array");
  single_ = read(single);
  pair_ = read(pair);
  // A template that drops a text, or wants one that is not there, is no template for encoding it.
  if (!uses(single_, Source::text) || uses(single_, Source::pair)) single.fail("expected the sequence A and not B");
  if (!uses(pair_, Source::text) || !uses(pair_, Source::pair)) pair.fail("expected the sequences A and B");
}

}  // namespace attn::io
