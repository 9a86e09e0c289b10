// SPDX-License-Identifier: Apache-2.0
#include <attn/autograd/loss.hpp>
#include <attn/train/examples.hpp>
#include <attn/train/metrics.hpp>

#include "train/model_task.hpp"
#include "train/text_rows.hpp"

namespace attn::train {
namespace {

constexpr BatchOptions kReviewEvaluation{.size = 64, .tokens = 8192};

class ReviewTask : public ModelTask<models::TextEncoder, std::vector<TextRow>> {
 public:
  ReviewTask(const Recipe& recipe, const Lexicon& lexicon)
      : ModelTask(recipe, models::TextEncoder(encoder_shape(recipe, lexicon))), lexicon_(lexicon) {}

  nn::Variable loss(const Batch& batch, nn::DropoutStream* dropout, Context& context) override {
    const std::vector<TextRow>& from = data(Part::train);
    return autograd::cross_entropy(
        model_.classify_texts(batch_of(from, batch, recipe_.model.token_dropout, dropout), dropout, context),
        labels_of(from, batch), {.label_smoothing = recipe_.training.label_smoothing}, context);
  }

  std::vector<Score> evaluate(Part part, Context& context) override {
    const autograd::NoGrad no_grad;
    const std::vector<TextRow>& from = data(part);
    std::vector<std::int32_t> found, expected;
    double loss = 0;
    for (const Batch& batch : make_even_batches(lengths_of(from), kReviewEvaluation)) {
      const nn::Variable logits = model_.classify_texts(batch_of(from, batch), nullptr, context);
      const Tensor mean = autograd::cross_entropy(logits, labels_of(from, batch), {}, context).value();
      loss += static_cast<double>(mean.values<float>()[0]) * static_cast<double>(batch.size());
      for (const std::int32_t label : best_classes(logits.value())) found.push_back(label);
      for (const std::size_t item : batch) expected.push_back(from[item].targets[0]);
    }
    return {{"accuracy", accuracy(found, expected), Score::Better::higher},
            {"loss", loss / static_cast<double>(from.size()), Score::Better::lower}};
  }

  std::string predict(const std::string& input, Context& context) override {
    const autograd::NoGrad no_grad;
    const std::vector<TextRow> row{row_of(tokens_of(input, recipe_.tokens.kind), lexicon_, recipe_)};
    const Tensor logits = model_.classify_texts(batch_of(row, {0}), nullptr, context).value();
    return lexicon_.labels[static_cast<std::size_t>(best_classes(logits)[0])];
  }

 private:
  std::vector<TextRow> read_data(Part part) const override {
    std::vector<TextRow> rows;
    for (const LabelledText& item : read_labelled(file_of(part, ".jsonl"), kReviewLabels)) {
      rows.push_back(row_of(tokens_of(item.text, recipe_.tokens.kind), lexicon_, recipe_));
      rows.back().targets = {item.label};
    }
    return rows;
  }

  std::vector<std::ptrdiff_t> lengths_of(const std::vector<TextRow>& rows) const override {
    return train::lengths_of(rows);
  }

  static Tensor labels_of(const std::vector<TextRow>& rows, const Batch& batch) {
    return targets_of(rows, batch).reshape(std::ssize(batch));
  }

  Lexicon lexicon_;
};

}  // namespace

std::unique_ptr<Task> make_review_task(const Recipe& recipe, const Lexicon& lexicon) {
  return std::make_unique<ReviewTask>(recipe, lexicon);
}

}  // namespace attn::train
