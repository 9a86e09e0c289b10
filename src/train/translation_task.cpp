// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/autograd/loss.hpp>
#include <attn/models/encoder_decoder.hpp>
#include <attn/train/examples.hpp>
#include <attn/train/metrics.hpp>
#include <cmath>

#include "train/cross_attention.hpp"
#include "train/model_task.hpp"
#include "train/trigram.hpp"

namespace attn::train {
namespace {

constexpr BatchOptions kTranslationEvaluation{.size = 64, .tokens = 4096};

struct Pair {
  std::vector<std::int32_t> source, target;  // the target between a begin and an end
  std::string reference;
};

class TranslationTask : public ModelTask<models::EncoderDecoder, std::vector<Pair>> {
 public:
  TranslationTask(const Recipe& recipe, const Lexicon& lexicon)
      : ModelTask(recipe, models::EncoderDecoder({.vocabulary = lexicon.vocabularies[0].size(),
                                                  .max_tokens = recipe.model.max_tokens,
                                                  .transformer = transformer_of(recipe, models::NormPlace::before)})),
        vocabulary_(lexicon.vocabularies[0]) {}

  nn::Variable loss(const Batch& batch, nn::DropoutStream* dropout, Context& context) override {
    return mean_loss(data(Part::train), batch, dropout, context);
  }

  // Perplexity of the target's pieces. Of the test part besides what trigrams reach on the same pieces, and BLEU, for
  // which all of its texts are translated.
  std::vector<Score> evaluate(Part part, Context& context) override {
    const autograd::NoGrad no_grad;
    const std::vector<Pair>& from = data(part);
    double nats = 0, tokens = 0;
    for (const Batch& batch : make_even_batches(lengths_of(from), kTranslationEvaluation)) {
      double count = 0;
      for (const std::size_t item : batch) count += static_cast<double>(from[item].target.size()) - 1;
      const Tensor mean = mean_loss(from, batch, nullptr, context).value();
      nats += static_cast<double>(mean.values<float>()[0]) * count;
      tokens += count;
    }
    std::vector<Score> scores{{"perplexity", std::exp(nats / tokens), Score::Better::lower}};
    if (part == Part::test) {
      scores.push_back({"3-gram perplexity", trigram_perplexity(from), Score::Better::lower});
      scores.push_back({"BLEU", corpus_bleu(from, context), Score::Better::higher});
    }
    return scores;
  }

  std::string predict(const std::string& input, Context& context) override {
    return translate({pair_of({input, ""})}, {0}, context)[0];
  }

  CrossAttention attend(const std::string& input, Context& context) override {
    const autograd::NoGrad no_grad;
    const std::vector<Pair> pairs{pair_of({input, ""})};
    const std::vector<std::vector<std::int32_t>> rows = generate(pairs, {0}, context);
    const Encoded encoded = encode(pairs, {0}, nullptr, context);
    // Once more with all tokens at once: the token at a place looks where it must to choose the one after it.
    const std::vector<std::vector<std::int32_t>> inputs{{rows[0].begin(), rows[0].end() - 1}};
    const CrossAttentionRecorder recorder(recipe_.model.layers - 1, context);
    (void)model_.decode(padded(inputs, Vocabulary::kPadding), encoded.memory, encoded.lengths, nullptr, context);
    const Tensor& weights = recorder.weights();
    return {vocabulary_.decode(rows[0]), tokens_of(pairs[0].source), tokens_of(std::span(rows[0]).subspan(1)),
            weights.reshape(weights.extent(1), weights.extent(2), weights.extent(3))};
  }

 private:
  Pair pair_of(const TextPair& texts) const {
    const auto room = static_cast<std::size_t>(recipe_.model.max_tokens);
    Pair pair{vocabulary_.encode(texts.source), vocabulary_.encode(texts.target), texts.target};
    if (pair.source.size() > room - 1) pair.source.resize(room - 1);
    if (pair.target.size() > room - 1) pair.target.resize(room - 1);
    pair.source.push_back(Vocabulary::kEnd);
    pair.target.insert(pair.target.begin(), Vocabulary::kBegin);
    pair.target.push_back(Vocabulary::kEnd);
    return pair;
  }

  std::vector<Pair> read_data(Part part) const override {
    std::vector<Pair> pairs;
    for (const TextPair& texts : read_pairs(file_of(part, ".jsonl"))) pairs.push_back(pair_of(texts));
    return pairs;
  }

  std::vector<std::ptrdiff_t> lengths_of(const std::vector<Pair>& pairs) const override {
    std::vector<std::ptrdiff_t> lengths;
    for (const Pair& pair : pairs) lengths.push_back(std::max(std::ssize(pair.source), std::ssize(pair.target) - 1));
    return lengths;
  }

  struct Encoded {
    nn::Variable memory;
    std::vector<std::int32_t> lengths;
  };
  Encoded encode(const std::vector<Pair>& pairs, const Batch& batch, nn::DropoutStream* dropout,
                 Context& context) const {
    std::vector<std::vector<std::int32_t>> sources;
    Encoded encoded;
    for (const std::size_t item : batch) {
      sources.push_back(pairs[item].source);
      encoded.lengths.push_back(static_cast<std::int32_t>(pairs[item].source.size()));
    }
    encoded.memory = model_.encode(padded(sources, Vocabulary::kPadding), encoded.lengths, dropout, context);
    return encoded;
  }

  nn::Variable mean_loss(const std::vector<Pair>& pairs, const Batch& batch, nn::DropoutStream* dropout,
                         Context& context) const {
    const Encoded encoded = encode(pairs, batch, dropout, context);
    std::vector<std::vector<std::int32_t>> inputs, targets;
    for (const std::size_t item : batch) {
      inputs.emplace_back(pairs[item].target.begin(), pairs[item].target.end() - 1);
      targets.emplace_back(pairs[item].target.begin() + 1, pairs[item].target.end());
    }
    const nn::Variable logits =
        model_.decode(padded(inputs, Vocabulary::kPadding), encoded.memory, encoded.lengths, dropout, context);
    return autograd::cross_entropy(logits, padded(targets, kIgnored),
                                   {.label_smoothing = dropout ? recipe_.training.label_smoothing : 0}, context);
  }

  std::vector<std::string> tokens_of(std::span<const std::int32_t> ids) const {
    std::vector<std::string> tokens;
    for (const std::int32_t id : ids) tokens.push_back(vocabulary_.token(id));
    return tokens;
  }

  std::vector<std::string> translate(const std::vector<Pair>& pairs, const Batch& batch, Context& context) const {
    std::vector<std::string> texts;
    for (const std::vector<std::int32_t>& row : generate(pairs, batch, context)) {
      texts.push_back(vocabulary_.decode(row));
    }
    return texts;
  }

  // The likeliest piece at each place, until all texts have ended. A row begins with kBegin.
  std::vector<std::vector<std::int32_t>> generate(const std::vector<Pair>& pairs, const Batch& batch,
                                                  Context& context) const {
    const autograd::NoGrad no_grad;
    const Encoded encoded = encode(pairs, batch, nullptr, context);
    std::vector<std::vector<std::int32_t>> rows(batch.size(), {Vocabulary::kBegin});
    std::size_t ended = 0;
    while (ended < batch.size() && std::ssize(rows[0]) < recipe_.model.max_tokens) {
      const Tensor logits =
          model_.decode(padded(rows, Vocabulary::kPadding), encoded.memory, encoded.lengths, nullptr, context).value();
      const std::vector<std::int32_t> best = best_classes(logits);
      ended = 0;
      for (std::size_t b = 0; b < rows.size(); ++b) {
        const bool has_ended = rows[b].back() == Vocabulary::kEnd;
        rows[b].push_back(has_ended ? Vocabulary::kEnd : best[(b + 1) * rows[b].size() - 1]);
        ended += rows[b].back() == Vocabulary::kEnd;
      }
    }
    return rows;
  }

  double trigram_perplexity(const std::vector<Pair>& held_out) {
    Trigrams trigrams(vocabulary_.size());
    for (const Pair& pair : data(Part::train)) trigrams.learn(pair.target);
    double nats = 0, tokens = 0;
    for (const Pair& pair : held_out) {
      for (std::size_t i = 1; i < pair.target.size(); ++i) nats -= std::log(trigrams.chance(pair.target, i));
      tokens += static_cast<double>(pair.target.size() - 1);
    }
    return std::exp(nats / tokens);
  }

  double corpus_bleu(const std::vector<Pair>& pairs, Context& context) const {
    std::vector<std::string> hypotheses, references;
    for (const Batch& batch : make_even_batches(lengths_of(pairs), kTranslationEvaluation)) {
      for (std::string& text : translate(pairs, batch, context)) hypotheses.push_back(std::move(text));
      for (const std::size_t item : batch) references.push_back(pairs[item].reference);
    }
    return bleu(hypotheses, references);
  }

  Vocabulary vocabulary_;
};

}  // namespace

std::unique_ptr<Task> make_translation_task(const Recipe& recipe, const Lexicon& lexicon) {
  return std::make_unique<TranslationTask>(recipe, lexicon);
}

}  // namespace attn::train
