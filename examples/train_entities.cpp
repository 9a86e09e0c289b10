// SPDX-License-Identifier: Apache-2.0
// A text encoder learns to find the names of people, places and bodies in the characters of Chinese news. Each
// character has a tag: B-ns begins the name of a place, I-ns goes on with it, O belongs to none.
//   script/data entities && train_entities .cache/data/entities [STEPS]
#include <algorithm>
#include <attn/models.hpp>
#include <attn/nn.hpp>
#include <attn/train.hpp>
#include <cstdio>
#include <cstdlib>
#include <set>

namespace {

using attn::models::TextEncoder;
using attn::train::Batch;
using attn::train::TaggedText;
using attn::train::Vocabulary;

constexpr std::ptrdiff_t kMaxTokens = 128;
constexpr std::int32_t kIgnored = -100;  // a target that counts for nothing

// What is longer than the model sees at once, cut into parts.
std::vector<TaggedText> read(const std::filesystem::path& file) {
  std::vector<TaggedText> parts;
  for (const TaggedText& text : attn::train::read_tagged(file)) {
    for (std::ptrdiff_t begin = 0; begin < std::ssize(text.tokens); begin += kMaxTokens) {
      const std::ptrdiff_t end = std::min(begin + kMaxTokens, std::ssize(text.tokens));
      parts.push_back({{text.tokens.begin() + begin, text.tokens.begin() + end},
                       {text.tags.begin() + begin, text.tags.begin() + end}});
    }
  }
  return parts;
}

std::vector<std::ptrdiff_t> lengths_of(const std::vector<TaggedText>& texts) {
  std::vector<std::ptrdiff_t> lengths;
  for (const TaggedText& text : texts) lengths.push_back(std::ssize(text.tokens));
  return lengths;
}

// Some texts as the model takes them: filled up to one length, which attention does not look beyond.
attn::models::TextBatch characters_of(const std::vector<TaggedText>& texts, const Batch& batch,
                                      const Vocabulary& vocabulary) {
  std::vector<std::vector<std::int32_t>> rows;
  attn::models::TextBatch result;
  for (const std::size_t item : batch) {
    rows.push_back(vocabulary.encode_tokens(texts[item].tokens));
    result.lengths.push_back(static_cast<std::int32_t>(rows.back().size()));
  }
  result.ids = {attn::train::padded(rows, Vocabulary::kPadding)};
  return result;
}

attn::Tensor tags_of(const std::vector<TaggedText>& texts, const Batch& batch, const std::vector<std::string>& tags) {
  std::vector<std::vector<std::int32_t>> rows;
  for (const std::size_t item : batch) {
    std::vector<std::int32_t>& row = rows.emplace_back();
    for (const std::string& tag : texts[item].tags) {
      row.push_back(static_cast<std::int32_t>(std::find(tags.begin(), tags.end(), tag) - tags.begin()));
    }
  }
  return attn::train::padded(rows, kIgnored);
}

// Names that agree in begin, end and kind.
attn::train::SpanScore judge(const TextEncoder& model, const std::vector<TaggedText>& texts,
                             const Vocabulary& vocabulary, const std::vector<std::string>& tags) {
  const attn::autograd::NoGrad no_grad;
  attn::train::SpanScore score;
  for (const Batch& batch : attn::train::make_even_batches(lengths_of(texts), {.size = 64})) {
    const attn::Tensor logits = model.classify_tokens(characters_of(texts, batch, vocabulary)).value();
    const std::vector<std::int32_t> best = attn::train::best_classes(logits);
    for (std::size_t b = 0; b < batch.size(); ++b) {
      const std::vector<std::string>& right = texts[batch[b]].tags;
      const std::size_t first = b * static_cast<std::size_t>(logits.extent(1));
      std::vector<std::string> found;
      for (std::size_t i = 0; i < right.size(); ++i) found.push_back(tags[static_cast<std::size_t>(best[first + i])]);
      score.add(found, right);
    }
  }
  return score;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) throw attn::Error("train_entities", "", "expected the folder that script/data entities made");
  const std::filesystem::path folder = argv[1];
  const int steps = argc > 2 ? std::atoi(argv[2]) : 2000;
  const std::vector<TaggedText> train = read(folder / "train.jsonl"), held_out = read(folder / "test.jsonl");

  // Characters and tags are numbered by the training part alone.
  std::vector<std::string> lines;
  std::set<std::string> names;
  for (const TaggedText& text : train) {
    std::string& line = lines.emplace_back();
    for (const std::string& character : text.tokens) line += character;
    names.insert(text.tags.begin(), text.tags.end());
  }
  const std::vector<std::string> tags(names.begin(), names.end());
  const Vocabulary characters = Vocabulary::learn(lines, {.kind = attn::train::TokenKind::characters, .min_count = 2});

  TextEncoder model({.vocabularies = {characters.size()},
                     .max_tokens = kMaxTokens,
                     .classes = std::ssize(tags),
                     .transformer = {.width = 96, .layers = 3, .heads = 4, .feedforward = 192, .dropout = 0.1}});
  attn::nn::initialise(model, {.seed = 1});
  attn::nn::AdamW optimiser(attn::nn::parameters(model), {.weight_decay = 0.01});
  attn::nn::DropoutStream dropout{.seed = 1};

  std::vector<Batch> batches;
  for (int step = 1, epoch = 0; step <= steps; ++step) {
    if (batches.empty())
      batches = attn::train::make_batches(lengths_of(train), 1, static_cast<std::uint64_t>(epoch++), {.size = 48});
    const Batch batch = std::move(batches.back());
    batches.pop_back();

    const attn::nn::Variable logits = model.classify_tokens(characters_of(train, batch, characters), &dropout);
    const attn::nn::Variable loss =
        attn::nn::cross_entropy(logits, tags_of(train, batch, tags), {.ignore_index = kIgnored});
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
  const attn::train::SpanScore score = judge(model, held_out, characters, tags);
  std::printf("held-out names: F1 %.4f (precision %.4f, recall %.4f)\n", score.f1(), score.precision(), score.recall());
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
