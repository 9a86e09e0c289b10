// SPDX-License-Identifier: Apache-2.0
#include "nn/mha_weights.hpp"

namespace attn::nn {
namespace {

// The mean over the heads of contiguous weights (batch, heads, queries, keys), f32 or f64.
template <class T>
Tensor mean_over_heads(const Tensor& weights, Context& context) {
  const std::ptrdiff_t heads = weights.extent(1), map = weights.extent(2) * weights.extent(3);
  const std::ptrdiff_t shape[] = {weights.extent(0), weights.extent(2), weights.extent(3)};
  Tensor mean = Tensor::zeros(weights.dtype(), shape, context.memory());
  const T* from = weights.values<T>().data();
  T* to = mean.values<T>().data();
  for (std::ptrdiff_t b = 0; b < weights.extent(0); ++b, to += map) {
    for (std::ptrdiff_t h = 0; h < heads; ++h, from += map) {
      for (std::ptrdiff_t i = 0; i < map; ++i) to[i] += from[i];
    }
    for (std::ptrdiff_t i = 0; i < map; ++i) to[i] /= static_cast<T>(heads);
  }
  return mean;
}

}  // namespace

Tensor asked_weights(const Tensor& weights, const MhaOptions& options, bool is_batched, Context& context) {
  if (!weights.has_value()) return {};
  Tensor result = weights;
  if (options.weights == Weights::averaged) {
    result = weights.dtype() == DType::f64 ? mean_over_heads<double>(weights, context)
                                           : mean_over_heads<float>(weights, context);
  }
  return is_batched ? result : result.reshape(result.shape().subspan(1));
}

}  // namespace attn::nn
