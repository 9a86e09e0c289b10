// SPDX-License-Identifier: Apache-2.0
#include "models/bert_tensors.hpp"

#include <algorithm>

namespace attn::models {
BertTensors::BertTensors(const io::SafeTensors& file, Context& context) : file_(file), context_(context) {
  const std::string words = "embeddings.word_embeddings.weight", prefix = "bert.";
  if (!file.contains(words) && file.contains(prefix + words)) prefix_ = prefix;
}

Tensor BertTensors::take(const std::string& name, const std::vector<std::ptrdiff_t>& shape) const {
  const Tensor tensor = file_.tensor(prefix_ + name, shape, {DType::f32, DType::f64, DType::bf16, DType::f16});
  return tensor.dtype() == DType::f64 ? tensor.to(DType::f32) : tensor;
}

Tensor BertTensors::table(const std::string& name, std::ptrdiff_t rows, std::ptrdiff_t columns) const {
  return take(name, {rows, columns});
}

nn::Linear BertTensors::linear(const std::string& name, std::ptrdiff_t in, std::ptrdiff_t out) const {
  return linear_of({name}, in, out);
}

nn::Linear BertTensors::linear_of(const std::vector<std::string>& names, std::ptrdiff_t in, std::ptrdiff_t out) const {
  // All are taken before memory is asked for: a size that the file contradicts may be too large for any machine.
  std::vector<Tensor> weights, biases;
  for (const std::string& name : names) {
    weights.push_back(take(name + ".weight", {out, in}));
    biases.push_back(take(name + ".bias", {out}));
  }
  const auto count = static_cast<std::ptrdiff_t>(names.size());
  Tensor weight = Tensor::empty(DType::f32, count * out, in), bias = Tensor::empty(DType::f32, count * out);
  auto next_weight = weight.values<float>().begin(), next_bias = bias.values<float>().begin();
  const auto append = [](const Tensor& part, auto& next) {
    const Tensor widened = part.to(DType::f32);
    next = std::copy(widened.values<float>().begin(), widened.values<float>().end(), next);
  };
  for (const Tensor& part : weights) append(part, next_weight);
  for (const Tensor& part : biases) append(part, next_bias);
  nn::Linear layer({.in_features = in, .out_features = count * out});
  layer.load({{"weight", weight}, {"bias", bias}}, {}, context_);
  return layer;
}

nn::LayerNorm BertTensors::layer_norm(const std::string& name, std::ptrdiff_t features, double eps) const {
  const bool is_old = !file_.contains(prefix_ + name + ".weight") && file_.contains(prefix_ + name + ".gamma");
  nn::LayerNorm norm({.features = features, .eps = eps});
  norm.load({{"weight", take(name + (is_old ? ".gamma" : ".weight"), {features})},
             {"bias", take(name + (is_old ? ".beta" : ".bias"), {features})}},
            {}, context_);
  return norm;
}

}  // namespace attn::models
