// SPDX-License-Identifier: Apache-2.0
#include <attn/autograd/elementwise.hpp>
#include <attn/autograd/embedding.hpp>
#include <attn/autograd/shape.hpp>
#include <attn/error.hpp>
#include <attn/models/token_embedding.hpp>

#include "base/concat.hpp"

namespace attn::models {

nn::Variable TokenEmbedding::operator()(const Tensor& ids, Context& context) const {
  if (ids.rank() != 2 || ids.extent(1) > shape_.max_tokens) {
    throw Error("TokenEmbedding", "ids",
                base::concat("shape ", base::shape_text(ids.shape()), ", expected (batch, tokens) with at most ",
                             shape_.max_tokens, " tokens"));
  }
  return autograd::add(autograd::embedding(ids, tokens_, context), autograd::slice(positions_, 0, 0, ids.extent(1)),
                       context);
}

void TokenEmbedding::visit(nn::ParameterVisitor& visitor) {
  visitor.parameter("tokens.weight", tokens_, {shape_.vocabulary, shape_.width}, {nn::StartKind::normal, 0.02});
  visitor.parameter("positions.weight", positions_, {shape_.max_tokens, shape_.width}, {nn::StartKind::normal, 0.02});
}

}  // namespace attn::models
