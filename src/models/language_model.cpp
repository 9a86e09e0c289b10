// SPDX-License-Identifier: Apache-2.0
#include <attn/autograd/linear.hpp>
#include <attn/models/language_model.hpp>

namespace attn::models {

LanguageModel::LanguageModel(const LanguageModelShape& shape)
    : shape_(shape),
      embeddings_({shape.vocabulary, shape.max_tokens, shape.transformer.width}),
      decoder_(shape.transformer) {}

nn::Variable LanguageModel::operator()(const Tensor& ids, nn::DropoutStream* dropout, Context& context) const {
  const nn::Variable x = nn::dropout(embeddings_(ids, context), shape_.transformer.dropout, dropout, context);
  const nn::Variable decoded = decoder_(x, {.is_causal = true, .dropout = dropout}, context);
  return autograd::linear(decoded, embeddings_.table(), {}, context);
}

void LanguageModel::visit(nn::ParameterVisitor& visitor) {
  visitor.within("embeddings", embeddings_);
  visitor.within("decoder", decoder_);
}

}  // namespace attn::models
