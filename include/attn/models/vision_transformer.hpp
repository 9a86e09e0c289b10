// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/models/transformer_stack.hpp>
#include <attn/nn/linear.hpp>

namespace attn::models {
inline namespace ATTN_ABI {

struct VisionTransformerShape {
  std::ptrdiff_t image_size = 28;  // height and width, in pixels
  std::ptrdiff_t patch_size = 4;   // divides it
  std::ptrdiff_t classes = 10;
  TransformerShape transformer = {};
};

}  // namespace ATTN_ABI

// An image is cut into patches, each of which is a token; the mean of the encoded tokens is classified (Dosovitskiy et
// al. 2021, "An image is worth 16x16 words", with pooling in place of a class token, as their appendix D.3 compares).
class ATTN_API VisionTransformer {
 public:
  // Throws Error for sizes that do not fit each other. Needs nn::initialise or nn::load_parameters before its use.
  explicit VisionTransformer(const VisionTransformerShape& shape);

  // pixels (batch, height, width) f32 to logits (batch, classes). Without a stream nothing drops out, which is
  // evaluation. Throws Error for another shape.
  nn::Variable operator()(const Tensor& pixels, nn::DropoutStream* dropout = nullptr,
                          Context& context = default_context()) const;
  // "patches.", "positions.weight", "encoder.layers.0." and so on, "classifier.".
  void visit(nn::ParameterVisitor& visitor);

 private:
  VisionTransformerShape shape_;
  nn::Linear patches_;
  nn::Variable positions_;
  EncoderStack encoder_;
  nn::Linear classifier_;
};

}  // namespace attn::models
