// SPDX-License-Identifier: Apache-2.0
// The transformer of Vaswani et al. learns to translate verses from English to Spanish:
//   script/data translation && train_translation .cache/data/translation [STEPS]
#include <algorithm>
#include <attn/models.hpp>
#include <attn/nn.hpp>
#include <attn/train.hpp>
#include <cstdio>
#include <cstdlib>

namespace {

using attn::models::EncoderDecoder;
using attn::train::Batch;
using attn::train::TextPair;
using attn::train::Vocabulary;

constexpr std::size_t kMaxTokens = 96;
constexpr std::int32_t kIgnored = -100;  // a target that counts for nothing

using Rows = std::vector<std::vector<std::int32_t>>;
struct Pairs {
  Rows sources, targets;  // pieces of words; sources end with kEnd, targets also begin with kBegin
  std::vector<std::ptrdiff_t> lengths;
};

Pairs numbered(const std::vector<TextPair>& texts, const Vocabulary& pieces) {
  Pairs pairs;
  for (const TextPair& text : texts) {
    std::vector<std::int32_t> source = pieces.encode(text.source), target = pieces.encode(text.target);
    source.resize(std::min(source.size(), kMaxTokens - 1));
    target.resize(std::min(target.size(), kMaxTokens - 1));
    source.push_back(Vocabulary::kEnd);
    target.insert(target.begin(), Vocabulary::kBegin);
    target.push_back(Vocabulary::kEnd);
    pairs.lengths.push_back(std::max(std::ssize(source), std::ssize(target) - 1));
    pairs.sources.push_back(std::move(source));
    pairs.targets.push_back(std::move(target));
  }
  return pairs;
}

// What the encoder makes of some sources, and how long each of them is.
struct Memory {
  attn::nn::Variable values;
  std::vector<std::int32_t> lengths;
};

Memory read(const EncoderDecoder& model, const Rows& sources, attn::nn::DropoutStream* dropout = nullptr) {
  Memory memory;
  for (const auto& source : sources) memory.lengths.push_back(static_cast<std::int32_t>(source.size()));
  memory.values = model.encode(attn::train::padded(sources, Vocabulary::kPadding), memory.lengths, dropout);
  return memory;
}

// The mean loss of the target's pieces, each told from the source and those before it.
attn::nn::Variable loss_of(const EncoderDecoder& model, const Pairs& pairs, const Batch& batch,
                           attn::nn::DropoutStream* dropout) {
  Rows sources, inputs, targets;
  for (const std::size_t item : batch) {
    const std::vector<std::int32_t>& target = pairs.targets[item];
    sources.push_back(pairs.sources[item]);
    inputs.emplace_back(target.begin(), target.end() - 1);
    targets.emplace_back(target.begin() + 1, target.end());
  }
  const Memory memory = read(model, sources, dropout);
  const attn::nn::Variable logits =
      model.decode(attn::train::padded(inputs, Vocabulary::kPadding), memory.values, memory.lengths, dropout);
  return attn::nn::cross_entropy(logits, attn::train::padded(targets, kIgnored),
                                 {.ignore_index = kIgnored, .label_smoothing = 0.1});
}

// The likeliest piece, one after the other, until the text ends.
std::string translate(const EncoderDecoder& model, const std::vector<std::int32_t>& source, const Vocabulary& pieces) {
  const attn::autograd::NoGrad no_grad;
  const Memory memory = read(model, {source});
  std::vector<std::int32_t> target{Vocabulary::kBegin};
  while (target.back() != Vocabulary::kEnd && target.size() < kMaxTokens) {
    const attn::Tensor ids = attn::train::padded(Rows{target}, Vocabulary::kPadding);
    const attn::nn::Variable logits = model.decode(ids, memory.values, memory.lengths);
    target.push_back(attn::train::best_classes(logits.value()).back());
  }
  return pieces.decode(target);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) throw attn::Error("train_translation", "", "expected the folder that script/data translation made");
  const std::filesystem::path folder = argv[1];
  const int steps = argc > 2 ? std::atoi(argv[2]) : 4000;

  // One table of pieces for both languages, learned from the training part alone.
  const std::vector<TextPair> texts = attn::train::read_pairs(folder / "train.jsonl");
  std::vector<std::string> both;
  for (const TextPair& text : texts) both.insert(both.end(), {text.source, text.target});
  const Vocabulary pieces = Vocabulary::learn(both, {.kind = attn::train::TokenKind::pieces, .max_size = 4000});
  const Pairs train = numbered(texts, pieces);

  EncoderDecoder model({.vocabulary = pieces.size(),
                        .max_tokens = kMaxTokens,
                        .transformer = {.width = 128, .layers = 3, .heads = 4, .feedforward = 384, .dropout = 0.1}});
  attn::nn::initialise(model, {.seed = 1});
  attn::nn::AdamW optimiser(attn::nn::parameters(model), {.weight_decay = 0.01});
  attn::nn::DropoutStream dropout{.seed = 1};

  std::vector<Batch> batches;
  for (int step = 1, epoch = 0; step <= steps; ++step) {
    if (batches.empty())
      batches = attn::train::make_batches(train.lengths, 1, static_cast<std::uint64_t>(epoch++), {.tokens = 3000});
    const attn::nn::Variable loss = loss_of(model, train, batches.back(), &dropout);
    batches.pop_back();
    optimiser.zero_grad();
    loss.backward();
    attn::nn::clip_grad_norm(optimiser.parameters(), 1);
    optimiser.set_learning_rate(2e-3 * attn::nn::warmup_cosine(step, steps / 10, steps));
    optimiser.step();
    if (step == 1 || step % 50 == 0 || step == steps) {
      std::printf("step %d: loss %.4f\n", step, static_cast<double>(loss.value().values<float>()[0]));
      std::fflush(stdout);
    }
  }

  std::vector<TextPair> held_out = attn::train::read_pairs(folder / "test.jsonl");
  held_out.resize(std::min<std::size_t>(held_out.size(), 100));
  const Pairs numbers = numbered(held_out, pieces);
  std::vector<std::string> translations, references;
  for (std::size_t i = 0; i < held_out.size(); ++i) {
    translations.push_back(translate(model, numbers.sources[i], pieces));
    references.push_back(held_out[i].target);
    if (i < 3) std::printf("%s\n  %s\n", held_out[i].source.c_str(), translations.back().c_str());
  }
  std::printf("BLEU of %d held-out verses: %.2f\n", static_cast<int>(held_out.size()),
              attn::train::bleu(translations, references));
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
