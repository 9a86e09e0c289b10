// SPDX-License-Identifier: Apache-2.0
#include "train/streams.hpp"

#include <attn/error.hpp>

#include "train/pieces.hpp"

namespace attn::train {
namespace {

void check_kind(TokenKind kind) {
  if (kind == TokenKind::characters || kind == TokenKind::words) return;
  throw Error("tokens", "kind", "expected characters or words for this task");
}

// One text a list of tokens, for Vocabulary::learn, which takes words apart at spaces.
std::string joined(const std::vector<std::string>& tokens) {
  std::string text;
  for (const std::string& token : tokens) text.append(token).append(1, ' ');
  return text;
}

}  // namespace

std::vector<std::string> tokens_of(std::string_view text, TokenKind kind) {
  check_kind(kind);
  std::vector<std::string> tokens;
  if (kind == TokenKind::words) {
    for (const std::string& character : characters_of(text)) {
      if (tokens.empty() || character == " ") tokens.emplace_back();
      if (character != " ") tokens.back() += character;
    }
    std::erase(tokens, std::string());
    return tokens;
  }
  for (const std::string& character : characters_of(text)) tokens.push_back(character == " " ? "_" : character);
  return tokens;
}

std::array<std::vector<std::string>, kStreams> streams_of(const std::vector<std::string>& tokens, TokenKind kind) {
  check_kind(kind);
  std::array<std::vector<std::string>, kStreams> streams{tokens, {}, {}};
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (kind == TokenKind::words) {
      const std::vector<std::string> characters = characters_of(tokens[i]);
      streams[1].push_back(characters.empty() ? "" : characters.front());
      streams[2].push_back(characters.empty() ? "" : characters.back());
    } else {
      streams[1].push_back((i == 0 ? "_" : tokens[i - 1]) + tokens[i]);
      streams[2].push_back(tokens[i] + (i + 1 == tokens.size() ? "_" : tokens[i + 1]));
    }
  }
  return streams;
}

std::vector<Vocabulary> learn_streams(const std::vector<std::vector<std::string>>& texts,
                                      const VocabularyOptions& options) {
  check_kind(options.kind);
  std::array<std::vector<std::string>, kStreams> lines;
  for (const std::vector<std::string>& tokens : texts) {
    const auto streams = streams_of(tokens, options.kind);
    for (std::size_t s = 0; s < kStreams; ++s) lines[s].push_back(joined(streams[s]));
  }
  VocabularyOptions each = options;
  each.kind = TokenKind::words;
  std::vector<Vocabulary> vocabularies;
  for (const std::vector<std::string>& stream : lines) vocabularies.push_back(Vocabulary::learn(stream, each));
  return vocabularies;
}

}  // namespace attn::train
