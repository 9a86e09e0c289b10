// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/autograd/loss.hpp>
#include <attn/error.hpp>
#include <attn/train/examples.hpp>
#include <attn/train/metrics.hpp>

#include "base/concat.hpp"
#include "io/json.hpp"
#include "train/model_task.hpp"
#include "train/text_rows.hpp"

namespace attn::train {
namespace {

constexpr BatchOptions kTagEvaluation{.size = 64, .tokens = 8192};

// A tag for each token: parts of speech, judged by the share that is right, or names, judged by whole spans.
class TagTask : public ModelTask<models::TextEncoder, std::vector<TextRow>> {
 public:
  TagTask(const Recipe& recipe, const Lexicon& lexicon)
      : ModelTask(recipe, models::TextEncoder(encoder_shape(recipe, lexicon))), lexicon_(lexicon) {}

  nn::Variable loss(const Batch& batch, nn::DropoutStream* dropout, Context& context) override {
    const std::vector<TextRow>& from = data(Part::train);
    return autograd::cross_entropy(
        model_.classify_tokens(batch_of(from, batch, recipe_.model.token_dropout, dropout), dropout, context),
        targets_of(from, batch), {.label_smoothing = recipe_.training.label_smoothing}, context);
  }

  std::vector<Score> evaluate(Part part, Context& context) override {
    const std::vector<TextRow>& from = data(part);
    std::vector<std::int32_t> found, expected;
    SpanScore spans;
    for (const Batch& batch : make_even_batches(lengths_of(from), kTagEvaluation)) {
      const std::vector<std::vector<std::int32_t>> tags = tag(from, batch, context);
      for (std::size_t b = 0; b < batch.size(); ++b) {
        const std::vector<std::int32_t>& right = from[batch[b]].targets;
        found.insert(found.end(), tags[b].begin(), tags[b].end());
        expected.insert(expected.end(), right.begin(), right.end());
        spans.add(names_of(tags[b]), names_of(right));
      }
    }
    const Score share{"accuracy", accuracy(found, expected), Score::Better::higher};
    if (recipe_.task == TaskKind::tagging) return {share};
    return {{"span F1", spans.f1(), Score::Better::higher},
            {"precision", spans.precision(), Score::Better::higher},
            {"recall", spans.recall(), Score::Better::higher},
            share};
  }

  std::string predict(const std::string& input, Context& context) override {
    const std::vector<std::string> tokens = tokens_of(input, recipe_.tokens.kind);
    if (tokens.empty()) return "";
    std::vector<TextRow> rows;
    add_rows(rows, {tokens, std::vector<std::string>(tokens.size(), lexicon_.labels[0])}, "");
    std::string text;
    auto token = tokens.begin();
    for (std::size_t r = 0; r < rows.size(); ++r) {
      for (const std::string& name : names_of(tag(rows, {r}, context)[0])) {
        text += base::concat(text.empty() ? "" : " ", *token++, '/', name);
      }
    }
    return text;
  }

 private:
  std::vector<TextRow> read_data(Part part) const override {
    const std::filesystem::path file = file_of(part, ".jsonl");
    std::vector<TextRow> rows;
    std::size_t line = 0;
    for (const TaggedText& text : read_tagged(file)) add_rows(rows, text, base::concat(file.string(), ':', ++line));
    return rows;
  }

  std::vector<std::ptrdiff_t> lengths_of(const std::vector<TextRow>& rows) const override {
    return train::lengths_of(rows);
  }

  // A text as one row, or as several when it is longer than what the model sees at once.
  void add_rows(std::vector<TextRow>& rows, const TaggedText& text, const std::string& where) const {
    std::size_t begin = 0;
    for (const std::size_t end : cuts_of(text.tokens, static_cast<std::size_t>(recipe_.model.max_tokens))) {
      const auto first = text.tokens.begin() + static_cast<std::ptrdiff_t>(begin);
      rows.push_back(row_of({first, text.tokens.begin() + static_cast<std::ptrdiff_t>(end)}, lexicon_, recipe_));
      for (std::size_t i = begin; i < end; ++i) rows.back().targets.push_back(label_of(text.tags[i], where));
      begin = end;
    }
  }

  // A tag that training never saw is always told wrong: none of the labels is it.
  std::int32_t label_of(const std::string& tag, const std::string& where) const {
    const auto found = std::find(lexicon_.labels.begin(), lexicon_.labels.end(), tag);
    if (found != lexicon_.labels.end()) return static_cast<std::int32_t>(found - lexicon_.labels.begin());
    if (where.find("train.jsonl") == std::string::npos) return kUnseen;
    throw Error(where, "",
                base::concat("tag ", io::quote(tag), " is none of the ", lexicon_.labels.size(), " known ones"));
  }

  std::vector<std::vector<std::int32_t>> tag(const std::vector<TextRow>& rows, const Batch& batch, Context& context) {
    const autograd::NoGrad no_grad;
    const Tensor logits = model_.classify_tokens(batch_of(rows, batch), nullptr, context).value();
    const std::vector<std::int32_t> best = best_classes(logits);
    std::vector<std::vector<std::int32_t>> tags;
    for (std::size_t b = 0; b < batch.size(); ++b) {
      const auto first = best.begin() + static_cast<std::ptrdiff_t>(b) * logits.extent(1);
      tags.emplace_back(first, first + rows[batch[b]].tokens());
    }
    return tags;
  }

  std::vector<std::string> names_of(const std::vector<std::int32_t>& tags) const {
    std::vector<std::string> names;
    for (const std::int32_t t : tags) names.push_back(t == kUnseen ? "" : lexicon_.labels[static_cast<std::size_t>(t)]);
    return names;
  }

  static constexpr std::int32_t kUnseen = -1;
  Lexicon lexicon_;
};

}  // namespace

std::unique_ptr<Task> make_tag_task(const Recipe& recipe, const Lexicon& lexicon) {
  return std::make_unique<TagTask>(recipe, lexicon);
}

}  // namespace attn::train
