// SPDX-License-Identifier: Apache-2.0
#include "models/bert_layer.hpp"

namespace attn::models {
namespace {

// Columns of x as heads: (tokens, heads * dim) to (1, heads, tokens, dim).
template <class T>
View<T, 4> as_heads(const View<T, 2>& x, std::ptrdiff_t heads) {
  return x.unflatten(1, heads, x.extent(1) / heads).transpose(0, 1).unsqueeze(0);
}

}  // namespace

BertLayer::BertLayer(const BertConfig& config, const BertTensors& tensors, const std::string& prefix)
    : heads_(config.num_attention_heads), activation_(config.hidden_act) {
  const std::ptrdiff_t e = config.hidden_size, wide = config.intermediate_size;
  const std::string self = prefix + "attention.self.";
  qkv_ = tensors.linear_of({self + "query", self + "key", self + "value"}, e, e);
  attention_output_ = tensors.linear(prefix + "attention.output.dense", e, e);
  attention_norm_ = tensors.layer_norm(prefix + "attention.output.LayerNorm", e, config.layer_norm_eps);
  intermediate_ = tensors.linear(prefix + "intermediate.dense", e, wide);
  output_ = tensors.linear(prefix + "output.dense", wide, e);
  output_norm_ = tensors.layer_norm(prefix + "output.LayerNorm", e, config.layer_norm_eps);
}

BertLayer::Workspace BertLayer::workspace(std::ptrdiff_t tokens, Context& context) const {
  const auto room = [&](std::ptrdiff_t width) {
    const std::ptrdiff_t shape[] = {tokens, width};
    return Tensor::empty(DType::f32, shape, context.memory());
  };
  const std::ptrdiff_t e = output_.shape().out_features;
  return {.qkv = room(3 * e), .mixed = room(e), .attended = room(e), .wide = room(intermediate_.shape().out_features)};
}

void BertLayer::forward(Tensor& hidden, const Packing& packing, Workspace& room, Context& context) const {
  const auto project = [&](const Tensor& x, const nn::Linear& layer, Tensor& y, LinearOptions options) {
    options.bias = layer.bias();
    linear(x, layer.weight(), y, options, context);
  };
  project(hidden, qkv_, room.qkv, {});
  const View<const float, 2> all = std::as_const(room.qkv).view<float, 2>();
  const std::ptrdiff_t e = all.extent(1) / 3;
  attention(as_heads(all.slice(1, 0, e), heads_), as_heads(all.slice(1, e, 2 * e), heads_),
            as_heads(all.slice(1, 2 * e, 3 * e), heads_), as_heads(room.mixed.view<float, 2>(), heads_),
            {.packing = packing}, context);
  project(room.mixed, attention_output_, room.attended,
          {.residual = std::as_const(hidden), .norm = attention_norm_.options()});
  project(room.attended, intermediate_, room.wide, {.activation = activation_});
  project(room.wide, output_, hidden, {.residual = std::as_const(room.attended), .norm = output_norm_.options()});
}

}  // namespace attn::models
