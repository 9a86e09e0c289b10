// SPDX-License-Identifier: Apache-2.0
#include <attn/autograd/elementwise.hpp>
#include <attn/autograd/reduce.hpp>
#include <attn/error.hpp>
#include <attn/models/vision_transformer.hpp>

#include "base/concat.hpp"

namespace attn::models {
namespace {

// (batch, height, width) to (batch, patches, pixels of a patch), both row by row.
Tensor patches_of(const Tensor& pixels, std::ptrdiff_t side) {
  const View<const float, 3> from = pixels.view<float, 3>();
  const std::ptrdiff_t across = from.extent(2) / side, down = from.extent(1) / side;
  Tensor patches = Tensor::empty(DType::f32, from.extent(0), down * across, side * side);
  float* to = patches.values<float>().data();
  for (std::ptrdiff_t b = 0; b < from.extent(0); ++b) {
    for (std::ptrdiff_t patch = 0; patch < down * across; ++patch) {
      const std::ptrdiff_t top = patch / across * side, left = patch % across * side;
      for (std::ptrdiff_t i = 0; i < side * side; ++i) *to++ = from(b, top + i / side, left + i % side);
    }
  }
  return patches;
}

}  // namespace

VisionTransformer::VisionTransformer(const VisionTransformerShape& shape)
    : shape_(shape),
      patches_({.in_features = shape.patch_size * shape.patch_size, .out_features = shape.transformer.width}),
      encoder_(shape.transformer),
      classifier_({.in_features = shape.transformer.width, .out_features = shape.classes}) {
  if (shape.patch_size >= 1 && shape.image_size % shape.patch_size == 0) return;
  throw Error("VisionTransformer", "patch_size",
              base::concat("found ", shape.patch_size, ", expected a divisor of image_size, ", shape.image_size));
}

nn::Variable VisionTransformer::operator()(const Tensor& pixels, nn::DropoutStream* dropout, Context& context) const {
  if (pixels.dtype() != DType::f32 || pixels.rank() != 3 || pixels.extent(1) != shape_.image_size ||
      pixels.extent(2) != shape_.image_size) {
    throw Error("VisionTransformer", "pixels",
                base::concat("expected f32 of shape (batch, ", shape_.image_size, ", ", shape_.image_size, ")"));
  }
  const nn::Variable patches(patches_of(pixels, shape_.patch_size));
  const nn::Variable x = autograd::add(patches_(patches, context), positions_, context);
  const nn::Variable encoded =
      encoder_(nn::dropout(x, shape_.transformer.dropout, dropout, context), {.dropout = dropout}, context);
  return classifier_(autograd::mean_over(encoded, 1, context), context);
}

void VisionTransformer::visit(nn::ParameterVisitor& visitor) {
  const std::ptrdiff_t across = shape_.image_size / shape_.patch_size;
  visitor.within("patches", patches_);
  visitor.parameter("positions.weight", positions_, {across * across, shape_.transformer.width},
                    {nn::StartKind::normal, 0.02});
  visitor.within("encoder", encoder_);
  visitor.within("classifier", classifier_);
}

}  // namespace attn::models
