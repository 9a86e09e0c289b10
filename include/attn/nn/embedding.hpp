// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/nn/input.hpp>
#include <attn/nn/parameters.hpp>
#include <attn/nn/state_dict.hpp>

namespace attn::nn {
inline namespace ATTN_ABI {

struct EmbeddingShape {
  std::ptrdiff_t num_embeddings = 0;  // ids 0 ... num_embeddings - 1
  std::ptrdiff_t embedding_dim = 0;
};

}  // namespace ATTN_ABI

// A row of a table for each id: PyTorch's nn.Embedding.
class ATTN_API Embedding {
 public:
  Embedding() = default;
  // Throws Error for negative sizes.
  explicit Embedding(const EmbeddingShape& shape);

  // "weight" (num_embeddings, embedding_dim), kept as it is and not copied.
  void load(const StateDict& state, const std::string& prefix = {}, Context& context = default_context());
  void read(StateReader& reader);

  // ids (...), i32 or i64, to (..., embedding_dim), f64 when the weight is f64, else f32. Throws Error naming an id
  // that is not in the table, and before load.
  Tensor operator()(Input ids, Context& context = default_context()) const;

  // The same with gradients, in the table's dtype: see autograd::embedding. Starts from unit-normal numbers, as
  // PyTorch's. Throws Error before initialise or load_parameters.
  Variable rows(const Tensor& ids, Context& context = default_context()) const;
  void visit(ParameterVisitor& visitor);

  const EmbeddingShape& shape() const { return shape_; }
  const Tensor& weight() const { return weight_variable_.has_value() ? weight_variable_.value() : weight_; }
  // What training changes: logits of tied weights are autograd::linear(x, embedding.weight_variable()).
  const Variable& weight_variable() const { return weight_variable_; }

 private:
  EmbeddingShape shape_;
  Tensor weight_;
  Variable weight_variable_;
};

}  // namespace attn::nn
