// SPDX-License-Identifier: Apache-2.0
// A text encoder learns to tell the part of speech of each word of Chinese news:
//   script/data tagging && train_tagging .cache/data/tagging [STEPS]
#include <algorithm>
#include <attn/models.hpp>
#include <attn/nn.hpp>
#include <attn/train.hpp>
#include <cstdio>
#include <cstdlib>
#include <map>

namespace {

using attn::models::TextEncoder;
using attn::train::Batch;
using attn::train::TaggedText;
using attn::train::Vocabulary;

constexpr std::ptrdiff_t kMaxTokens = 96;
constexpr std::int32_t kIgnored = -100;  // a target that counts for nothing

using Rows = std::vector<std::vector<std::int32_t>>;
struct Sentences {
  Rows words, tags;  // numbers of each
  std::vector<std::ptrdiff_t> lengths;
};

// Sentences that are too long for the model become several.
Sentences numbered(const std::vector<TaggedText>& texts, const Vocabulary& words,
                   const std::map<std::string, std::int32_t>& tags) {
  Sentences sentences;
  for (const TaggedText& text : texts) {
    const std::vector<std::int32_t> ids = words.encode_tokens(text.tokens);
    for (auto begin = ids.begin(); begin != ids.end();) {
      const auto end = begin + std::min(kMaxTokens, ids.end() - begin);
      std::vector<std::int32_t>& row = sentences.tags.emplace_back();
      for (auto i = begin; i != end; ++i) {
        const auto tag = tags.find(text.tags[static_cast<std::size_t>(i - ids.begin())]);
        row.push_back(tag == tags.end() ? -1 : tag->second);  // of a tag never seen: no answer is right
      }
      sentences.words.emplace_back(begin, end);
      sentences.lengths.push_back(end - begin);
      begin = end;
    }
  }
  return sentences;
}

Rows chosen(const Rows& rows, const Batch& batch) {
  Rows some;
  for (const std::size_t item : batch) some.push_back(rows[item]);
  return some;
}

// Some of them as the model takes them: filled up to one length, which attention does not look beyond.
attn::models::TextBatch words_of(const Sentences& sentences, const Batch& batch) {
  attn::models::TextBatch texts{.ids = {attn::train::padded(chosen(sentences.words, batch), Vocabulary::kPadding)}};
  for (const std::size_t item : batch) texts.lengths.push_back(static_cast<std::int32_t>(sentences.lengths[item]));
  return texts;
}

// The share of words whose tag the model tells.
double accuracy(const TextEncoder& model, const Sentences& sentences) {
  const attn::autograd::NoGrad no_grad;
  std::vector<std::int32_t> found, expected;
  for (const Batch& batch : attn::train::make_even_batches(sentences.lengths, {.size = 64})) {
    const attn::Tensor logits = model.classify_tokens(words_of(sentences, batch)).value();
    const std::vector<std::int32_t> best = attn::train::best_classes(logits);
    for (std::size_t b = 0; b < batch.size(); ++b) {
      const std::vector<std::int32_t>& right = sentences.tags[batch[b]];
      const auto first = best.begin() + static_cast<std::ptrdiff_t>(b) * logits.extent(1);
      found.insert(found.end(), first, first + std::ssize(right));
      expected.insert(expected.end(), right.begin(), right.end());
    }
  }
  return attn::train::accuracy(found, expected);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) throw attn::Error("train_tagging", "", "expected the folder that script/data tagging made");
  const std::filesystem::path folder = argv[1];
  const int steps = argc > 2 ? std::atoi(argv[2]) : 1500;

  // Words and tags are numbered by the training part alone.
  const std::vector<TaggedText> texts = attn::train::read_tagged(folder / "train.jsonl");
  std::vector<std::string> lines;
  std::map<std::string, std::int32_t> tags;
  for (const TaggedText& text : texts) {
    std::string& line = lines.emplace_back();
    for (const std::string& word : text.tokens) line += word + ' ';
    for (const std::string& tag : text.tags) tags.emplace(tag, static_cast<std::int32_t>(tags.size()));
  }
  const Vocabulary words =
      Vocabulary::learn(lines, {.kind = attn::train::TokenKind::words, .max_size = 30000, .min_count = 2});
  const Sentences train = numbered(texts, words, tags);
  const Sentences held_out = numbered(attn::train::read_tagged(folder / "test.jsonl"), words, tags);

  TextEncoder model({.vocabularies = {words.size()},
                     .max_tokens = kMaxTokens,
                     .classes = std::ssize(tags),
                     .transformer = {.width = 96, .layers = 2, .heads = 4, .feedforward = 192, .dropout = 0.1}});
  attn::nn::initialise(model, {.seed = 1});
  attn::nn::AdamW optimiser(attn::nn::parameters(model), {.weight_decay = 0.01});
  attn::nn::DropoutStream dropout{.seed = 1};

  std::vector<Batch> batches;
  for (int step = 1, epoch = 0; step <= steps; ++step) {
    if (batches.empty())
      batches = attn::train::make_batches(train.lengths, 1, static_cast<std::uint64_t>(epoch++), {.size = 64});
    const Batch batch = std::move(batches.back());
    batches.pop_back();

    const attn::nn::Variable logits = model.classify_tokens(words_of(train, batch), &dropout);
    const attn::Tensor targets = attn::train::padded(chosen(train.tags, batch), kIgnored);
    const attn::nn::Variable loss = attn::nn::cross_entropy(logits, targets, {.ignore_index = kIgnored});
    optimiser.zero_grad();
    loss.backward();
    attn::nn::clip_grad_norm(optimiser.parameters(), 1);
    optimiser.set_learning_rate(2e-3 * attn::nn::warmup_cosine(step, steps / 20, steps));
    optimiser.step();
    if (step == 1 || step % 50 == 0 || step == steps) {
      std::printf("step %d: loss %.4f\n", step, static_cast<double>(loss.value().values<float>()[0]));
      std::fflush(stdout);
    }
  }
  std::printf("accuracy on held-out words: %.4f\n", accuracy(model, held_out));
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
