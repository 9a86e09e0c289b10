// SPDX-License-Identifier: Apache-2.0
#include "io/token_model.hpp"

#include <attn/error.hpp>

#include "base/concat.hpp"
#include "io/context_tokens.hpp"
#include "io/json.hpp"
#include "io/wordpiece.hpp"

namespace attn::io {
namespace {

// Files written before 2021 do not name their model: it is known by its fields.
std::string model_type(const JsonField& field) {
  if (const auto type = field.find("type")) return type->string();
  if (field.find("merges")) return "BPE";
  return field.find("continuing_subword_prefix") ? "WordPiece" : "";
}

}  // namespace

std::unique_ptr<const TokenModel> read_token_model(const JsonField& field) {
  const std::string type = model_type(field);
  if (type == "WordPiece") return std::make_unique<const WordPiece>(field);
  if (type == ContextTokens::kType) return std::make_unique<const ContextTokens>(field);
  // One plain sentence: this is what a person meets who tries a model of another family.
  throw Error(field.file(), {}, base::concat("model type ", quote(type), ", expected \"WordPiece\""));
}

}  // namespace attn::io
