// SPDX-License-Identifier: Apache-2.0
// A language model learns to go on with English verses:
//   script/data language && train_language .cache/data/language [STEPS]
#include <algorithm>
#include <attn/models.hpp>
#include <attn/nn.hpp>
#include <attn/train.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace {

using attn::models::LanguageModel;
using attn::train::Batch;
using attn::train::Vocabulary;

constexpr std::ptrdiff_t kWindow = 128;  // tokens that the model sees at once
constexpr std::int32_t kIgnored = -100;  // a target that counts for nothing

// A whole text as one row of tokens.
struct Text {
  std::vector<std::int32_t> ids{Vocabulary::kBegin};
  double characters = 0;
};

Text numbered(const std::vector<std::string>& lines, const Vocabulary& pieces) {
  Text text;
  for (const std::string& line : lines) {
    for (const std::int32_t id : pieces.encode(line)) text.ids.push_back(id);
    text.ids.push_back(Vocabulary::kEnd);
    // In UTF-8 the bytes after a character's first are 10xxxxxx; the end of the line counts as one.
    text.characters += 1 + std::count_if(line.begin(), line.end(), [](char byte) { return (byte & 0xC0) != 0x80; });
  }
  return text;
}

// Tokens of each window; the last may be short.
std::vector<std::ptrdiff_t> windows_of(const Text& text) {
  std::vector<std::ptrdiff_t> lengths;
  for (std::ptrdiff_t rest = std::ssize(text.ids) - 1; rest > 0; rest -= kWindow)
    lengths.push_back(std::min(rest, kWindow));
  return lengths;
}

// The mean loss of some windows, in each of which every token tells the next.
attn::nn::Variable loss_of(const LanguageModel& model, const Text& text, const Batch& batch,
                           attn::nn::DropoutStream* dropout = nullptr) {
  std::vector<std::vector<std::int32_t>> inputs, targets;
  for (const std::size_t window : batch) {
    const auto first = text.ids.begin() + static_cast<std::ptrdiff_t>(window) * kWindow;
    const auto last = first + std::min(kWindow, text.ids.end() - 1 - first);
    inputs.emplace_back(first, last);
    targets.emplace_back(first + 1, last + 1);
  }
  const attn::nn::Variable logits = model(attn::train::padded(inputs, Vocabulary::kPadding), dropout);
  return attn::nn::cross_entropy(logits, attn::train::padded(targets, kIgnored), {.ignore_index = kIgnored});
}

double bits_per_character(const LanguageModel& model, const Text& text) {
  const attn::autograd::NoGrad no_grad;
  const std::vector<std::ptrdiff_t> lengths = windows_of(text);
  double nats = 0;
  for (const Batch& batch : attn::train::make_even_batches(lengths, {.size = 16})) {
    double tokens = 0;
    for (const std::size_t window : batch) tokens += static_cast<double>(lengths[window]);
    const attn::nn::Variable mean = loss_of(model, text, batch);
    nats += tokens * static_cast<double>(mean.value().values<float>()[0]);
  }
  return nats / std::log(2.0) / text.characters;
}

// The likeliest token, one after the other.
std::string go_on(const LanguageModel& model, const Vocabulary& pieces, const std::string& prompt) {
  const attn::autograd::NoGrad no_grad;
  std::vector<std::int32_t> ids = pieces.encode(prompt);
  ids.insert(ids.begin(), Vocabulary::kBegin);
  while (std::ssize(ids) < kWindow && ids.back() != Vocabulary::kEnd) {
    const std::vector<std::vector<std::int32_t>> rows{ids};
    const attn::nn::Variable logits = model(attn::train::padded(rows, Vocabulary::kPadding));
    ids.push_back(attn::train::best_classes(logits.value()).back());
  }
  return pieces.decode(ids);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) throw attn::Error("train_language", "", "expected the folder that script/data language made");
  const std::filesystem::path folder = argv[1];
  const int steps = argc > 2 ? std::atoi(argv[2]) : 2000;

  // Pieces of words, learned from the training part alone.
  const std::vector<std::string> lines = attn::train::read_text(folder / "train.txt");
  const Vocabulary pieces = Vocabulary::learn(lines, {.kind = attn::train::TokenKind::pieces, .max_size = 2000});
  const Text train = numbered(lines, pieces);
  const Text held_out = numbered(attn::train::read_text(folder / "test.txt"), pieces);

  LanguageModel model({.vocabulary = pieces.size(),
                       .max_tokens = kWindow,
                       .transformer = {.width = 128, .layers = 4, .heads = 4, .feedforward = 384, .dropout = 0.1}});
  attn::nn::initialise(model, {.seed = 1});
  attn::nn::AdamW optimiser(attn::nn::parameters(model), {.weight_decay = 0.05});
  attn::nn::DropoutStream dropout{.seed = 1};

  std::vector<Batch> batches;
  for (int step = 1, epoch = 0; step <= steps; ++step) {
    if (batches.empty())
      batches = attn::train::make_batches(windows_of(train), 1, static_cast<std::uint64_t>(epoch++), {.size = 16});
    const attn::nn::Variable loss = loss_of(model, train, batches.back(), &dropout);
    batches.pop_back();
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
  std::printf("%s\n", go_on(model, pieces, "In the beginning").c_str());
  std::printf("bits per held-out character: %.4f\n", bits_per_character(model, held_out));
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
