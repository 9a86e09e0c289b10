// SPDX-License-Identifier: Apache-2.0
// A text encoder learns from the characters of Chinese reviews whether their writers were content:
//   script/data reviews && train_reviews .cache/data/reviews [STEPS]
#include <attn/models.hpp>
#include <attn/nn.hpp>
#include <attn/train.hpp>
#include <cstdio>
#include <cstdlib>

namespace {

using attn::models::TextEncoder;
using attn::train::Batch;
using attn::train::Vocabulary;

constexpr std::size_t kMaxTokens = 160;

struct Reviews {
  std::vector<std::vector<std::int32_t>> ids;
  std::vector<std::ptrdiff_t> lengths;  // of these
  std::vector<std::int32_t> labels;     // 1: content
};

Reviews numbered(const std::vector<attn::train::LabelledText>& texts, const Vocabulary& vocabulary) {
  Reviews reviews;
  for (const auto& [text, label] : texts) {
    std::vector<std::int32_t> ids = vocabulary.encode(text);
    if (ids.empty()) ids.push_back(Vocabulary::kUnknown);
    if (ids.size() > kMaxTokens) ids.resize(kMaxTokens);
    reviews.lengths.push_back(std::ssize(ids));
    reviews.ids.push_back(std::move(ids));
    reviews.labels.push_back(label);
  }
  return reviews;
}

// Some of them as the model takes them: filled up to one length, which attention does not look beyond.
attn::models::TextBatch texts_of(const Reviews& reviews, const Batch& batch) {
  std::vector<std::vector<std::int32_t>> rows;
  attn::models::TextBatch texts;
  for (const std::size_t item : batch) {
    rows.push_back(reviews.ids[item]);
    texts.lengths.push_back(static_cast<std::int32_t>(reviews.lengths[item]));
  }
  texts.ids = {attn::train::padded(rows, Vocabulary::kPadding)};
  return texts;
}

attn::Tensor labels_of(const Reviews& reviews, const Batch& batch) {
  attn::Tensor labels = attn::Tensor::empty(attn::DType::i32, std::ssize(batch));
  std::int32_t* to = labels.values<std::int32_t>().data();
  for (const std::size_t item : batch) *to++ = reviews.labels[item];
  return labels;
}

// The share of reviews whose label the model tells.
double accuracy(const TextEncoder& model, const Reviews& reviews) {
  const attn::autograd::NoGrad no_grad;
  std::vector<std::int32_t> found, expected;
  for (const Batch& batch : attn::train::make_even_batches(reviews.lengths, {.size = 64})) {
    const attn::nn::Variable logits = model.classify_texts(texts_of(reviews, batch));
    for (const std::int32_t label : attn::train::best_classes(logits.value())) found.push_back(label);
    for (const std::size_t item : batch) expected.push_back(reviews.labels[item]);
  }
  return attn::train::accuracy(found, expected);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) throw attn::Error("train_reviews", "", "expected the folder that script/data reviews made");
  const std::filesystem::path folder = argv[1];
  const int steps = argc > 2 ? std::atoi(argv[2]) : 1500;

  // Characters that occur three times or more in the training part have a number of their own.
  const auto texts = attn::train::read_labelled(folder / "train.jsonl", 2);
  std::vector<std::string> characters;
  for (const auto& [text, label] : texts) characters.push_back(text);
  const Vocabulary vocabulary =
      Vocabulary::learn(characters, {.kind = attn::train::TokenKind::characters, .min_count = 3});
  const Reviews train = numbered(texts, vocabulary);
  const Reviews held_out = numbered(attn::train::read_labelled(folder / "test.jsonl", 2), vocabulary);

  TextEncoder model({.vocabularies = {vocabulary.size()},
                     .max_tokens = kMaxTokens,
                     .classes = 2,
                     .transformer = {.width = 96, .layers = 2, .heads = 4, .feedforward = 192, .dropout = 0.2}});
  attn::nn::initialise(model, {.seed = 1});
  attn::nn::AdamW optimiser(attn::nn::parameters(model), {.weight_decay = 0.05});
  attn::nn::DropoutStream dropout{.seed = 1};

  std::vector<Batch> batches;
  for (int step = 1, epoch = 0; step <= steps; ++step) {
    if (batches.empty())
      batches = attn::train::make_batches(train.lengths, 1, static_cast<std::uint64_t>(epoch++), {.size = 64});
    const Batch batch = std::move(batches.back());
    batches.pop_back();

    const attn::nn::Variable logits = model.classify_texts(texts_of(train, batch), &dropout);
    const attn::nn::Variable loss = attn::nn::cross_entropy(logits, labels_of(train, batch));
    optimiser.zero_grad();
    loss.backward();
    attn::nn::clip_grad_norm(optimiser.parameters(), 1);
    optimiser.set_learning_rate(1e-3 * attn::nn::warmup_cosine(step, steps / 20, steps));
    optimiser.step();
    if (step == 1 || step % 50 == 0 || step == steps) {
      std::printf("step %d: loss %.4f\n", step, static_cast<double>(loss.value().values<float>()[0]));
      std::fflush(stdout);
    }
  }
  std::printf("accuracy on held-out reviews: %.4f\n", accuracy(model, held_out));
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
