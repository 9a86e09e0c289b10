// SPDX-License-Identifier: Apache-2.0
#include "train/hub_tokens.hpp"

#include <algorithm>

#include "train/pieces.hpp"

namespace attn::train {
namespace {

std::vector<std::string> names_of(const Vocabulary& vocabulary, std::int32_t first) {
  std::vector<std::string> names;
  for (std::int32_t id = first; id < vocabulary.size(); ++id) names.push_back(vocabulary.token(id));
  return names;
}

// The number that its part has; special tokens have an unknown one.
std::int32_t part_of(std::int32_t id, const HubStreams& streams, const std::vector<Vocabulary>& vocabularies) {
  if (id < Vocabulary::kSpecial) return Vocabulary::kUnknown;
  const std::vector<std::string> characters = characters_of(vocabularies[streams.whole].token(id));
  const std::string part = streams.kind == TokenKind::words ? characters.front() : characters.back();
  return vocabularies[streams.part].encode_tokens(std::vector{part})[0];
}

}  // namespace

HubStreams::HubStreams(TokenKind tokens)
    : whole(tokens == TokenKind::words ? 0 : 1), part(tokens == TokenKind::words ? 1 : 0), type(2), kind(tokens) {}

nlohmann::json hub_tokenizer(const HubStreams& streams, const std::vector<Vocabulary>& vocabularies) {
  return {{"version", "1.0"},
          {"added_tokens", nlohmann::json::array()},
          {"model",
           {{"type", "AttnContext"},
            {"unit", streams.kind == TokenKind::words ? "words" : "characters"},
            {"vocab", names_of(vocabularies[streams.whole], 0)},
            {"fallback", names_of(vocabularies[streams.part], Vocabulary::kSpecial)},
            {"types", names_of(vocabularies[streams.type], 0)}}}};
}

Tensor hub_words(const HubStreams& streams, const std::vector<Vocabulary>& vocabularies, const Tensor& whole,
                 const Tensor& part) {
  const std::ptrdiff_t known = whole.extent(0), width = whole.extent(1);
  Tensor words = Tensor::empty(DType::f32, known + part.extent(0) - Vocabulary::kSpecial, width);
  const std::span<const float> wholes = whole.values<float>(), parts = part.values<float>();
  float* to = words.values<float>().data();
  const auto add_row = [&](std::ptrdiff_t whole_row, std::ptrdiff_t part_row) {
    to = std::transform(wholes.data() + whole_row * width, wholes.data() + (whole_row + 1) * width,
                        parts.data() + part_row * width, to, std::plus<>());
  };
  for (std::int32_t id = 0; id < known; ++id) add_row(id, part_of(id, streams, vocabularies));
  for (std::ptrdiff_t id = Vocabulary::kSpecial; id < part.extent(0); ++id) add_row(Vocabulary::kUnknown, id);
  return words;
}

}  // namespace attn::train
