// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/io/atomic_file.hpp>
#include <attn/train/examples.hpp>
#include <attn/train/task.hpp>
#include <set>

#include "io/json.hpp"
#include "io/json_field.hpp"
#include "io/mapped_file.hpp"
#include "train/streams.hpp"
#include "train/tasks.hpp"

namespace attn::train {
namespace {

const std::vector<std::string> kClothes{"T-shirt", "trouser", "pullover", "dress", "coat",
                                        "sandal",  "shirt",   "sneaker",  "bag",   "ankle boot"};

std::vector<std::string> texts_of(const Recipe& recipe) {
  if (recipe.task == TaskKind::language) return read_text(recipe.data / "train.txt");
  std::vector<std::string> texts;
  for (TextPair& pair : read_pairs(recipe.data / "train.jsonl")) {
    texts.push_back(std::move(pair.source));
    texts.push_back(std::move(pair.target));
  }
  return texts;
}

}  // namespace

Lexicon learn_lexicon(const Recipe& recipe) {
  switch (recipe.task) {
    case TaskKind::images:
      return {{}, kClothes};
    case TaskKind::translation:
    case TaskKind::language:
      return {{Vocabulary::learn(texts_of(recipe), recipe.tokens)}, {}};
    case TaskKind::reviews:
    case TaskKind::tagging:
    case TaskKind::entities:
      break;
  }
  std::vector<std::vector<std::string>> texts;
  std::vector<std::string> labels;
  if (recipe.task == TaskKind::reviews) {
    labels = {"negative", "positive"};
    for (const LabelledText& item : read_labelled(recipe.data / "train.jsonl", kReviewLabels)) {
      texts.push_back(tokens_of(item.text, recipe.tokens.kind));
    }
  } else {
    std::set<std::string> tags;
    for (TaggedText& item : read_tagged(recipe.data / "train.jsonl")) {
      tags.insert(item.tags.begin(), item.tags.end());
      texts.push_back(std::move(item.tokens));
    }
    labels.assign(tags.begin(), tags.end());
  }
  return {learn_streams(texts, recipe.tokens), std::move(labels)};
}

Lexicon load_lexicon(const std::filesystem::path& file) {
  const io::SharedBytes bytes = io::map_file(file);
  const std::string where = file.string();
  const io::Json json = io::parse_json(where, "", io::as_text(bytes));
  const io::JsonField field(json, where);
  Lexicon lexicon;
  const io::JsonField labels = field.at("labels", "an array of strings");
  for (std::size_t i = 0; i < labels.array().size(); ++i) lexicon.labels.push_back(labels.element(i).string());
  const io::JsonField vocabularies = field.at("vocabularies", "an array");
  for (const io::Json& vocabulary : vocabularies.array()) {
    lexicon.vocabularies.push_back(Vocabulary::from_json(vocabulary.dump(), where));
  }
  return lexicon;
}

void save_lexicon(const std::filesystem::path& file, const Lexicon& lexicon) {
  io::Json json{{"labels", lexicon.labels}, {"vocabularies", io::Json::array()}};
  for (const Vocabulary& vocabulary : lexicon.vocabularies) {
    json["vocabularies"].push_back(io::Json::parse(vocabulary.to_json()));
  }
  io::AtomicFile out(file);
  out.write(json.dump());
  out.commit();
}

}  // namespace attn::train
