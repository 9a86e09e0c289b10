// SPDX-License-Identifier: Apache-2.0
#include <attn/autograd/embedding.hpp>
#include <attn/nn/embedding.hpp>
#include <vector>

#include "base/concat.hpp"
#include "base/convert.hpp"
#include "nn/rows.hpp"

namespace attn::nn {
namespace {

template <class T>
void widen_row(const Tensor& table, std::ptrdiff_t row, T* to) {
  const std::ptrdiff_t at = row * table.strides()[0], step = table.strides()[1];
  for (std::ptrdiff_t c = 0; c < table.extent(1); ++c) {
    to[c] = base::load_as<T>(table.dtype(), table.data(), at + c * step);
  }
}

std::int64_t id_at(const Tensor& ids, std::ptrdiff_t n) {
  return ids.dtype() == DType::i32 ? static_cast<const std::int32_t*>(ids.data())[n]
                                   : static_cast<const std::int64_t*>(ids.data())[n];
}

}  // namespace

Embedding::Embedding(const EmbeddingShape& shape) : shape_(shape) {
  if (shape.num_embeddings < 0 || shape.embedding_dim < 0) {
    throw Error("Embedding", "shape",
                base::concat(shape.num_embeddings, " x ", shape.embedding_dim, ", expected 0 or more of each"));
  }
}

void Embedding::load(const StateDict& state, const std::string& prefix, Context& context) {
  load_state(*this, state, prefix, context);
}

void Embedding::read(StateReader& reader) {
  weight_ = reader.take("weight", {shape_.num_embeddings, shape_.embedding_dim});
  weight_variable_ = {};
}

void Embedding::visit(ParameterVisitor& visitor) {
  visitor.parameter("weight", weight_variable_, {shape_.num_embeddings, shape_.embedding_dim},
                    {.kind = StartKind::normal, .scale = 1});
}

Variable Embedding::rows(const Tensor& ids, Context& context) const {
  check_trainable("Embedding", weight_variable_);
  return autograd::embedding(ids, weight_variable_, context);
}

Tensor Embedding::operator()(Input ids, Context& context) const {
  const Tensor& table = weight();
  if (!table.has_value()) throw Error("Embedding", "weight", "not loaded");
  if (ids.dtype() != DType::i32 && ids.dtype() != DType::i64) {
    throw Error("Embedding", "ids", base::concat("dtype ", name_of(ids.dtype()), ", expected i32 or i64"));
  }
  check_memory("Embedding", "ids", ids);
  const Tensor list = contiguous(ids, context);
  std::vector<std::ptrdiff_t> shape(ids.shape().begin(), ids.shape().end());
  shape.push_back(shape_.embedding_dim);
  Tensor result = Tensor::empty(table.dtype() == DType::f64 ? DType::f64 : DType::f32, shape, context.memory());
  for (std::ptrdiff_t n = 0; n < ids.size(); ++n) {
    const std::int64_t id = id_at(list, n);
    if (id < 0 || id >= shape_.num_embeddings) {
      throw Error("Embedding", "ids", base::concat(id, " at ", n, ", expected 0 to ", shape_.num_embeddings - 1));
    }
    if (result.dtype() == DType::f64) {
      widen_row(table, id, static_cast<double*>(result.data()) + n * shape_.embedding_dim);
    } else {
      widen_row(table, id, static_cast<float*>(result.data()) + n * shape_.embedding_dim);
    }
  }
  return result;
}

}  // namespace attn::nn
