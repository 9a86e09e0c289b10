// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/error.hpp>
#include <attn/train/task.hpp>

#include "base/concat.hpp"
#include "train/streams.hpp"
#include "train/tasks.hpp"

namespace attn::train {
namespace {

void check(const Recipe& recipe, const Lexicon& lexicon) {
  const bool is_text = recipe.task != TaskKind::images;
  const bool is_generated = recipe.task == TaskKind::translation || recipe.task == TaskKind::language;
  const std::size_t wanted = !is_text ? 0 : is_generated ? 1 : kStreams;
  if (lexicon.vocabularies.size() == wanted && lexicon.labels.empty() == is_generated) return;
  throw Error("make_task", "lexicon",
              base::concat(lexicon.vocabularies.size(), " vocabularies and ", lexicon.labels.size(),
                           " labels, which do not belong to the task ", name_of(recipe.task)));
}

}  // namespace

Task::~Task() = default;

CrossAttention Task::attend(const std::string&, Context&) {
  throw Error("attend", "task", "not translation: no other model has cross-attention");
}

std::string_view name_of(Part part) noexcept {
  return part == Part::train ? "train" : part == Part::validation ? "validation" : "test";
}

std::unique_ptr<Task> make_task(const Recipe& recipe, const Lexicon& lexicon) {
  check(recipe, lexicon);
  switch (recipe.task) {
    case TaskKind::images:
      return make_image_task(recipe, lexicon);
    case TaskKind::reviews:
      return make_review_task(recipe, lexicon);
    case TaskKind::tagging:
    case TaskKind::entities:
      return make_tag_task(recipe, lexicon);
    case TaskKind::translation:
      return make_translation_task(recipe, lexicon);
    case TaskKind::language:
      break;
  }
  return make_language_task(recipe, lexicon);
}

models::TransformerShape transformer_of(const Recipe& recipe, models::NormPlace norm) {
  const ModelRecipe& model = recipe.model;
  return {.width = model.width,
          .layers = model.layers,
          .heads = model.heads,
          .feedforward = model.feedforward,
          .dropout = model.dropout,
          .norm = norm,
          .activations = recipe.training.precision};
}

}  // namespace attn::train
