// SPDX-License-Identifier: Apache-2.0
// A vision transformer learns to tell clothes apart:
//   script/data images && train_images .cache/data/images [STEPS]
#include <algorithm>
#include <attn/models.hpp>
#include <attn/nn.hpp>
#include <attn/train.hpp>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace {

// Some images as the model takes them: (batch, 28, 28), about from -1 to 2.
attn::Tensor pixels_of(const attn::train::Images& images, const attn::train::Batch& batch) {
  attn::Tensor pixels = attn::Tensor::empty(attn::DType::f32, std::ssize(batch), 28, 28);
  const std::span<const std::uint8_t> from = images.pixels.values<std::uint8_t>();
  float* to = pixels.values<float>().data();
  for (const std::size_t item : batch) {
    for (const std::uint8_t grey : from.subspan(item * 784, 784))
      *to++ = (static_cast<float>(grey) / 255 - 0.286f) / 0.353f;
  }
  return pixels;
}

attn::Tensor labels_of(const attn::train::Images& images, const attn::train::Batch& batch) {
  attn::Tensor labels = attn::Tensor::empty(attn::DType::i32, std::ssize(batch));
  std::int32_t* to = labels.values<std::int32_t>().data();
  for (const std::size_t item : batch) *to++ = images.labels[item];
  return labels;
}

// The share of images whose class the model tells.
double accuracy(const attn::models::VisionTransformer& model, const attn::train::Images& images) {
  const attn::autograd::NoGrad no_grad;
  std::ptrdiff_t right = 0;
  for (std::ptrdiff_t first = 0; first < images.count(); first += 250) {
    attn::train::Batch batch(static_cast<std::size_t>(std::min<std::ptrdiff_t>(250, images.count() - first)));
    std::iota(batch.begin(), batch.end(), static_cast<std::size_t>(first));
    const attn::Tensor logits = model(pixels_of(images, batch)).value();
    const std::span<const float> values = logits.values<float>();
    for (std::size_t b = 0; b < batch.size(); ++b) {
      const auto row = values.begin() + static_cast<std::ptrdiff_t>(10 * b);
      right += std::max_element(row, row + 10) - row == images.labels[batch[b]];
    }
  }
  return static_cast<double>(right) / static_cast<double>(images.count());
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) throw attn::Error("train_images", "", "expected the folder that script/data images made");
  const int steps = argc > 2 ? std::atoi(argv[2]) : 2000;
  const attn::train::Images train = attn::train::read_images(argv[1], "train", 10);
  const attn::train::Images held_out = attn::train::read_images(argv[1], "test", 10);

  // 28 x 28 pixels are 49 patches of 4 x 4; each is a token.
  attn::models::VisionTransformer model(
      {.patch_size = 4, .transformer = {.width = 64, .layers = 4, .heads = 4, .feedforward = 128}});
  attn::nn::initialise(model, {.seed = 1});
  attn::nn::AdamW optimiser(attn::nn::parameters(model), {.weight_decay = 0.05});

  const std::vector<std::ptrdiff_t> lengths(train.labels.size(), 49);
  std::vector<attn::train::Batch> batches;
  for (int step = 1, epoch = 0; step <= steps; ++step) {
    if (batches.empty())
      batches = attn::train::make_batches(lengths, 1, static_cast<std::uint64_t>(epoch++), {.size = 128});
    const attn::train::Batch batch = std::move(batches.back());
    batches.pop_back();

    const attn::nn::Variable logits = model(pixels_of(train, batch));
    const attn::nn::Variable loss = attn::nn::cross_entropy(logits, labels_of(train, batch));
    optimiser.zero_grad();
    loss.backward();
    attn::nn::clip_grad_norm(optimiser.parameters(), 1);
    optimiser.set_learning_rate(2e-3 * attn::nn::warmup_cosine(step, steps / 20, steps));
    optimiser.step();
    if (step == 1 || step % 100 == 0 || step == steps) {
      std::printf("step %d: loss %.4f\n", step, static_cast<double>(loss.value().values<float>()[0]));
      std::fflush(stdout);
    }
  }
  std::printf("accuracy on held-out images: %.4f\n", accuracy(model, held_out));
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
