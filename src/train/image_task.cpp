// SPDX-License-Identifier: Apache-2.0
#include <attn/autograd/loss.hpp>
#include <attn/error.hpp>
#include <attn/io/npy.hpp>
#include <attn/models/vision_transformer.hpp>
#include <attn/train/examples.hpp>
#include <attn/train/metrics.hpp>
#include <numeric>

#include "train/model_task.hpp"

namespace attn::train {
namespace {

constexpr std::ptrdiff_t kSide = 28;
constexpr std::ptrdiff_t kEvaluated = 250;  // images at once
// Pixels' mean and standard deviation over the training part of Fashion-MNIST, in shares of 255.
constexpr float kMean = 0.286f, kDeviation = 0.353f;

models::VisionTransformerShape shape_of(const Recipe& recipe, const Lexicon& lexicon) {
  return {.image_size = kSide,
          .patch_size = recipe.model.patch,
          .classes = std::ssize(lexicon.labels),
          .transformer = transformer_of(recipe, models::NormPlace::before)};
}

class ImageTask : public ModelTask<models::VisionTransformer, Images> {
 public:
  ImageTask(const Recipe& recipe, const Lexicon& lexicon)
      : ModelTask(recipe, models::VisionTransformer(shape_of(recipe, lexicon))), labels_(lexicon.labels) {}

  nn::Variable loss(const Batch& batch, nn::DropoutStream* dropout, Context& context) override {
    const Images& from = data(Part::train);
    // A half of the images, another in each step, is mirrored: clothes have no side.
    const Tensor pixels = pixels_of(from.pixels, batch, dropout != nullptr ? dropout->offset + 1 : 0);
    return autograd::cross_entropy(model_(pixels, dropout, context), targets_of(from, batch),
                                   {.label_smoothing = recipe_.training.label_smoothing}, context);
  }

  std::vector<Score> evaluate(Part part, Context& context) override {
    const autograd::NoGrad no_grad;
    const Images& from = data(part);
    std::vector<std::int32_t> found;
    double loss = 0;
    for (std::ptrdiff_t first = 0; first < from.count(); first += kEvaluated) {
      Batch batch(static_cast<std::size_t>(std::min(kEvaluated, from.count() - first)));
      std::iota(batch.begin(), batch.end(), static_cast<std::size_t>(first));
      const nn::Variable logits = model_(pixels_of(from.pixels, batch, 0), nullptr, context);
      const Tensor mean = autograd::cross_entropy(logits, targets_of(from, batch), {}, context).value();
      loss += static_cast<double>(mean.values<float>()[0]) * static_cast<double>(batch.size());
      for (const std::int32_t label : best_classes(logits.value())) found.push_back(label);
    }
    return {{"accuracy", accuracy(found, from.labels), Score::Better::higher},
            {"loss", loss / static_cast<double>(from.count()), Score::Better::lower}};
  }

  std::string predict(const std::string& input, Context& context) override {
    const autograd::NoGrad no_grad;
    const Tensor image = io::read_npy(input);
    if (image.dtype() != DType::u8 || image.size() != kSide * kSide) {
      throw Error(input, "",
                  base::concat(name_of(image.dtype()), " of shape ", base::shape_text(image.shape()),
                               ", expected u8 of shape (", kSide, ", ", kSide, ")"));
    }
    const Tensor pixels = pixels_of(image.reshape(1, kSide, kSide), {0}, 0);
    return labels_[static_cast<std::size_t>(best_classes(model_(pixels, nullptr, context).value())[0])];
  }

 private:
  Images read_data(Part part) const override { return read_images(recipe_.data, name_of(part), kImageLabels); }

  std::vector<std::ptrdiff_t> lengths_of(const Images& images) const override {
    const std::ptrdiff_t across = kSide / recipe_.model.patch;
    return std::vector<std::ptrdiff_t>(images.labels.size(), across * across);
  }

  // Normed to mean 0 and deviation 1. `mirror`, unless 0, is the number by which a half of the images is chosen.
  static Tensor pixels_of(const Tensor& from, const Batch& batch, std::uint64_t mirror) {
    Tensor pixels = Tensor::empty(DType::f32, std::ssize(batch), kSide, kSide);
    const View<const std::uint8_t, 3> source = from.view<std::uint8_t, 3>();
    float* to = pixels.values<float>().data();
    for (const std::size_t item : batch) {
      const std::uint64_t mixed = (item + mirror) * 0x9E3779B97F4A7C15u;
      const bool is_mirrored = mirror != 0 && (mixed >> 63) != 0;
      for (std::ptrdiff_t row = 0; row < kSide; ++row) {
        for (std::ptrdiff_t column = 0; column < kSide; ++column) {
          const std::ptrdiff_t x = is_mirrored ? kSide - 1 - column : column;
          const float grey = source(static_cast<std::ptrdiff_t>(item), row, x);
          *to++ = (grey / 255 - kMean) / kDeviation;
        }
      }
    }
    return pixels;
  }

  static Tensor targets_of(const Images& from, const Batch& batch) {
    Tensor targets = Tensor::empty(DType::i32, std::ssize(batch));
    std::span<std::int32_t> to = targets.values<std::int32_t>();
    for (std::size_t i = 0; i < batch.size(); ++i) to[i] = from.labels[batch[i]];
    return targets;
  }

  std::vector<std::string> labels_;
};

}  // namespace

std::unique_ptr<Task> make_image_task(const Recipe& recipe, const Lexicon& lexicon) {
  return std::make_unique<ImageTask>(recipe, lexicon);
}

}  // namespace attn::train
