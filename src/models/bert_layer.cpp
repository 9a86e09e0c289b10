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

Tensor BertLayer::attend(const Tensor& x, const Packing& packing, Context& context) const {
  const Tensor qkv = qkv_(x, context);
  const View<const float, 2> all = qkv.view<float, 2>();
  const std::ptrdiff_t e = all.extent(1) / 3;
  const std::ptrdiff_t shape[] = {all.extent(0), e};
  Tensor out = Tensor::empty(DType::f32, shape, context.memory());
  attention(as_heads(all.slice(1, 0, e), heads_), as_heads(all.slice(1, e, 2 * e), heads_),
            as_heads(all.slice(1, 2 * e, 3 * e), heads_), as_heads(out.view<float, 2>(), heads_), {.packing = packing},
            context);
  return out;
}

Tensor BertLayer::forward(const Tensor& x, const Packing& packing, Context& context) const {
  const Tensor attended = attend(x, packing, context);
  const Tensor y = attention_norm_(attention_output_(attended, {.residual = x}, context), context);
  const Tensor wide = intermediate_(y, {.activation = activation_}, context);
  return output_norm_(output_(wide, {.residual = y}, context), context);
}

}  // namespace attn::models
