// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/autograd/loss.hpp>
#include <attn/models/language_model.hpp>
#include <attn/train/examples.hpp>
#include <attn/train/metrics.hpp>
#include <cmath>
#include <numbers>

#include "train/model_task.hpp"
#include "train/pieces.hpp"

namespace attn::train {
namespace {

constexpr BatchOptions kLanguageEvaluation{.size = 16};
constexpr std::ptrdiff_t kContinued = 60;  // tokens that predict adds

struct Text {
  std::vector<std::int32_t> ids;
  std::size_t characters = 0;  // line ends included
};

// The text as one row of tokens, cut into windows, each of which tells the token after each of its own.
class LanguageTask : public ModelTask<models::LanguageModel, Text> {
 public:
  LanguageTask(const Recipe& recipe, const Lexicon& lexicon)
      : ModelTask(recipe, models::LanguageModel({.vocabulary = lexicon.vocabularies[0].size(),
                                                 .max_tokens = recipe.model.max_tokens,
                                                 .transformer = transformer_of(recipe, models::NormPlace::before)})),
        vocabulary_(lexicon.vocabularies[0]) {}

  nn::Variable loss(const Batch& batch, nn::DropoutStream* dropout, Context& context) override {
    return mean_loss(data(Part::train), batch, dropout, context);
  }

  std::vector<Score> evaluate(Part part, Context& context) override {
    const autograd::NoGrad no_grad;
    const Text& from = data(part);
    double nats = 0, tokens = 0;
    const std::vector<std::ptrdiff_t> lengths = lengths_of(from);
    for (const Batch& batch : make_even_batches(lengths, kLanguageEvaluation)) {
      double count = 0;
      for (const std::size_t item : batch) count += static_cast<double>(lengths[item]);
      const Tensor mean = mean_loss(from, batch, nullptr, context).value();
      nats += static_cast<double>(mean.values<float>()[0]) * count;
      tokens += count;
    }
    return {
        {"bits per character", nats / std::numbers::ln2 / static_cast<double>(from.characters), Score::Better::lower},
        {"perplexity", std::exp(nats / tokens), Score::Better::lower}};
  }

  std::string predict(const std::string& input, Context& context) override {
    const autograd::NoGrad no_grad;
    std::vector<std::int32_t> ids = vocabulary_.encode(input);
    ids.insert(ids.begin(), Vocabulary::kBegin);
    for (std::ptrdiff_t i = 0; i < kContinued; ++i) {
      const std::ptrdiff_t seen = std::min(std::ssize(ids), recipe_.model.max_tokens);
      const std::vector<std::vector<std::int32_t>> row{{ids.end() - seen, ids.end()}};
      const Tensor logits = model_(padded(row, Vocabulary::kPadding), nullptr, context).value();
      ids.push_back(best_classes(logits).back());
      if (ids.back() == Vocabulary::kEnd) break;
    }
    return vocabulary_.decode(ids);
  }

 private:
  Text read_data(Part part) const override {
    Text text;
    text.ids.push_back(Vocabulary::kBegin);
    for (const std::string& line : read_text(file_of(part, ".txt"))) {
      for (const std::int32_t id : vocabulary_.encode(line)) text.ids.push_back(id);
      text.ids.push_back(Vocabulary::kEnd);
      text.characters += characters_of(line).size() + 1;
    }
    return text;
  }

  std::vector<std::ptrdiff_t> lengths_of(const Text& text) const override {
    const std::ptrdiff_t window = recipe_.model.max_tokens, all = std::ssize(text.ids) - 1;
    std::vector<std::ptrdiff_t> lengths;
    for (std::ptrdiff_t first = 0; first < all; first += window) lengths.push_back(std::min(window, all - first));
    return lengths;
  }

  nn::Variable mean_loss(const Text& text, const Batch& batch, nn::DropoutStream* dropout, Context& context) const {
    std::vector<std::vector<std::int32_t>> inputs, targets;
    for (const std::size_t item : batch) {
      const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(item) * recipe_.model.max_tokens;
      const std::ptrdiff_t last = std::min(first + recipe_.model.max_tokens, std::ssize(text.ids) - 1);
      inputs.emplace_back(text.ids.begin() + first, text.ids.begin() + last);
      targets.emplace_back(text.ids.begin() + first + 1, text.ids.begin() + last + 1);
    }
    const nn::Variable logits = model_(padded(inputs, Vocabulary::kPadding), dropout, context);
    return autograd::cross_entropy(logits, padded(targets, kIgnored),
                                   {.label_smoothing = dropout ? recipe_.training.label_smoothing : 0}, context);
  }

  Vocabulary vocabulary_;
};

}  // namespace

std::unique_ptr<Task> make_language_task(const Recipe& recipe, const Lexicon& lexicon) {
  return std::make_unique<LanguageTask>(recipe, lexicon);
}

}  // namespace attn::train
