// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <attn/error.hpp>
#include <attn/train/recipe.hpp>
#include <initializer_list>

#include "base/concat.hpp"
#include "io/json.hpp"
#include "io/json_field.hpp"
#include "io/mapped_file.hpp"
#include "io/near_names.hpp"

namespace attn::train {
namespace {

constexpr std::array<std::string_view, 6> kTaskNames{"images",   "reviews",     "tagging",
                                                     "entities", "translation", "language"};
constexpr std::int64_t kMany = 1'000'000'000;

// Reads the members of one object, and refuses those that nobody asked for: a misspelt key would else change nothing,
// and nobody would know.
class Reader {
 public:
  explicit Reader(const io::JsonField& field) : field_(field) {}

  void integer(std::string_view key, std::ptrdiff_t& value, std::int64_t minimum, std::int64_t maximum = kMany) {
    if (const auto field = find(key)) value = field->integer(minimum, maximum);
  }
  void seed(std::string_view key, std::uint64_t& value) {
    if (const auto field = find(key)) value = static_cast<std::uint64_t>(field->integer(0));
  }
  // From `minimum` to `maximum`; `is_open`: the maximum itself is too much.
  void number(std::string_view key, double& value, double minimum, double maximum, bool is_open = false) {
    const auto field = find(key);
    if (!field) return;
    value = field->number();
    if (value >= minimum && (is_open ? value < maximum : value <= maximum)) return;
    field->fail(base::concat("found ", value, ", expected ", minimum, is_open ? " up to below " : " to ", maximum));
  }
  std::optional<io::JsonField> find(std::string_view key) {
    known_.emplace_back(key);
    return field_.find(key);
  }
  void finish() const {
    for (const auto& [key, value] : field_.object().items()) {
      if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
      field_.fail(base::concat("unknown key ", io::quote(key), io::near_names(key, known_)));
    }
  }

 private:
  const io::JsonField& field_;
  std::vector<std::string> known_;
};

TaskKind task_of(const io::JsonField& field) {
  const auto found = std::find(kTaskNames.begin(), kTaskNames.end(), field.string());
  if (found == kTaskNames.end()) {
    field.fail(base::concat("found ", io::quote(field.string()),
                            ", expected images, reviews, tagging, entities, translation or language"));
  }
  return static_cast<TaskKind>(found - kTaskNames.begin());
}

void read_tokens(const io::JsonField& field, VocabularyOptions& tokens) {
  Reader reader(field);
  if (const auto kind = reader.find("kind")) tokens.kind = token_kind_named(kind->string(), kind->file());
  reader.integer("max_size", tokens.max_size, Vocabulary::kSpecial + 1, 1'000'000);
  reader.integer("min_count", tokens.min_count, 1);
  reader.finish();
}

void read_model(const io::JsonField& field, ModelRecipe& model) {
  Reader reader(field);
  reader.integer("width", model.width, 1, 1 << 16);
  reader.integer("layers", model.layers, 1, 1000);
  reader.integer("heads", model.heads, 1, 1 << 16);
  reader.integer("feedforward", model.feedforward, 1, 1 << 20);
  reader.number("dropout", model.dropout, 0, 1, true);
  reader.number("token_dropout", model.token_dropout, 0, 1, true);
  reader.integer("patch", model.patch, 1, 28);
  reader.integer("max_tokens", model.max_tokens, 2, 1 << 20);
  reader.finish();
  if (model.width % model.heads != 0) {
    field.fail(base::concat("width ", model.width, ", expected a multiple of heads, ", model.heads));
  }
  if (28 % model.patch != 0) field.fail(base::concat("patch ", model.patch, ", expected a divisor of 28"));
}

DType precision_of(const io::JsonField& field) {
  for (const DType dtype : {DType::f32, DType::bf16, DType::f16}) {
    if (field.string() == attn::name_of(dtype)) return dtype;
  }
  field.fail(base::concat("found ", io::quote(field.string()), ", expected f32, bf16 or f16"));
}

void read_training(const io::JsonField& field, TrainingRecipe& training) {
  Reader reader(field);
  reader.integer("steps", training.steps, 1);
  reader.integer("batch", training.batch, 1, 1 << 20);
  reader.integer("batch_tokens", training.batch_tokens, 0);
  reader.number("learning_rate", training.learning_rate, 0, 10);
  reader.integer("warmup", training.warmup, 0);
  reader.number("weight_decay", training.weight_decay, 0, 10);
  reader.number("clip", training.clip, 1e-6, 1e9);
  reader.number("label_smoothing", training.label_smoothing, 0, 1, true);
  reader.number("average", training.average, 0, 1, true);
  reader.integer("evaluate_every", training.evaluate_every, 1);
  reader.integer("patience", training.patience, 0);
  reader.integer("checkpoint_every", training.checkpoint_every, 1);
  reader.seed("seed", training.seed);
  if (const auto precision = reader.find("precision")) training.precision = precision_of(*precision);
  reader.finish();
  if (training.warmup > training.steps) {
    field.fail(base::concat("warmup ", training.warmup, ", expected at most steps, ", training.steps));
  }
}

}  // namespace

std::string_view name_of(TaskKind task) noexcept { return kTaskNames[static_cast<std::size_t>(task)]; }

Recipe parse_recipe(std::string_view json, std::string_view where) {
  const io::Json value = io::parse_json(where, "", json);
  const io::JsonField field(value, where);
  Reader reader(field);
  Recipe recipe;
  recipe.task = task_of(field.at("task", "the name of a task"));
  recipe.data = field.at("data", "a folder").string();
  if (recipe.data.empty()) field.fail("\"data\" is empty, expected a folder");
  (void)reader.find("task");
  (void)reader.find("data");
  if (const auto tokens = reader.find("tokens")) read_tokens(*tokens, recipe.tokens);
  if (const auto model = reader.find("model")) read_model(*model, recipe.model);
  if (const auto training = reader.find("training")) read_training(*training, recipe.training);
  reader.finish();
  return recipe;
}

Recipe load_recipe(const std::filesystem::path& file) {
  return parse_recipe(io::as_text(io::map_file(file)), file.string());
}

}  // namespace attn::train
