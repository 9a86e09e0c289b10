// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/autograd/elementwise.hpp>
#include <attn/autograd/embedding.hpp>
#include <attn/autograd/linear.hpp>
#include <attn/autograd/shape.hpp>
#include <attn/error.hpp>
#include <attn/models/text_encoder.hpp>

#include "base/concat.hpp"

namespace attn::models {
namespace {

void check(const TextEncoderShape& shape, const TextBatch& batch) {
  const std::size_t tables = shape.vocabularies.size();
  if (batch.ids.size() != tables) {
    throw Error("TextEncoder", "ids", base::concat(batch.ids.size(), " tensors, expected ", tables, ", one a table"));
  }
  const std::ptrdiff_t texts = std::ssize(batch.lengths);
  for (const Tensor& ids : batch.ids) {
    if (ids.rank() == 2 && ids.extent(0) == texts && ids.extent(1) == batch.ids[0].extent(1)) continue;
    throw Error("TextEncoder", "ids", base::concat("expected (", texts, ", tokens), the same for each table"));
  }
  for (const std::int32_t length : batch.lengths) {
    if (length >= 1 && length <= batch.ids[0].extent(1)) continue;
    throw Error("TextEncoder", "lengths",
                base::concat("found ", length, ", expected 1 to ", batch.ids[0].extent(1), ", the tokens of ids"));
  }
}

// (batch, 1, tokens): what each token counts in the mean of its text.
nn::Variable shares(const TextBatch& batch) {
  const std::ptrdiff_t tokens = batch.ids[0].extent(1);
  Tensor shares = Tensor::zeros(DType::f32, std::ssize(batch.lengths), 1, tokens);
  float* row = shares.values<float>().data();
  for (const std::int32_t length : batch.lengths) {
    std::fill(row, row + length, 1.0f / static_cast<float>(length));
    row += tokens;
  }
  return nn::Variable(std::move(shares));
}

}  // namespace

TextEncoder::TextEncoder(const TextEncoderShape& shape)
    : shape_(shape),
      tables_(shape.vocabularies.empty() ? 0 : shape.vocabularies.size() - 1),
      norm_({.features = shape.transformer.width}),
      encoder_(shape.transformer),
      classifier_({.in_features = shape.transformer.width, .out_features = shape.classes}) {
  if (shape.vocabularies.empty()) throw Error("TextEncoder", "vocabularies", "found none, expected one or more");
  embeddings_ = TokenEmbedding({shape.vocabularies[0], shape.max_tokens, shape.transformer.width});
}

nn::Variable TextEncoder::encode(const TextBatch& batch, nn::DropoutStream* dropout, Context& context) const {
  check(shape_, batch);
  nn::Variable x = embeddings_(batch.ids[0], context);
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    x = autograd::add(x, autograd::embedding(batch.ids[i + 1], tables_[i], context), context);
  }
  x = nn::dropout(norm_(x, context), shape_.transformer.dropout, dropout, context);
  return encoder_(x, {.attention = {.mask = Mask::lengths(batch.lengths)}, .dropout = dropout}, context);
}

nn::Variable TextEncoder::classify_texts(const TextBatch& batch, nn::DropoutStream* dropout, Context& context) const {
  const nn::Variable mean = autograd::matmul(shares(batch), encode(batch, dropout, context), context);
  return classifier_(autograd::reshape(mean, {mean.extent(0), mean.extent(2)}, context), context);
}

nn::Variable TextEncoder::classify_tokens(const TextBatch& batch, nn::DropoutStream* dropout, Context& context) const {
  return classifier_(encode(batch, dropout, context), context);
}

void TextEncoder::visit(nn::ParameterVisitor& visitor) {
  visitor.within("embeddings", embeddings_);
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    visitor.parameter(base::concat("tables.", i + 1, ".weight"), tables_[i],
                      {shape_.vocabularies[i + 1], shape_.transformer.width}, {nn::StartKind::normal, 0.02});
  }
  visitor.within("norm", norm_);
  visitor.within("encoder", encoder_);
  visitor.within("classifier", classifier_);
}

}  // namespace attn::models
