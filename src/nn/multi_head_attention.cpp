// SPDX-License-Identifier: Apache-2.0
#include <attn/attention.hpp>
#include <attn/nn/multi_head_attention.hpp>
#include <cstring>

#include "base/concat.hpp"
#include "base/convert.hpp"
#include "nn/mha_masks.hpp"
#include "nn/mha_weights.hpp"
#include "nn/rows.hpp"
#include "nn/token_batch.hpp"

namespace attn::nn {
namespace {

constexpr std::string_view kWhere = "MultiHeadAttention";

void check(const MhaShape& s) {
  const auto at_least = [](const char* name, std::ptrdiff_t value, std::ptrdiff_t least) {
    if (value < least) throw Error(kWhere, name, base::concat(value, ", expected ", least, " or more"));
  };
  at_least("embed_dim", s.embed_dim, 0);
  at_least("num_heads", s.num_heads, 1);
  at_least("num_kv_heads", s.num_kv_heads, 0);
  at_least("kdim", s.kdim, 0);
  at_least("vdim", s.vdim, 0);
  if (s.embed_dim % s.num_heads != 0) {
    throw Error(kWhere, "embed_dim", base::concat(s.embed_dim, ", expected a multiple of num_heads ", s.num_heads));
  }
  if (s.num_kv_heads != 0 && s.num_heads % s.num_kv_heads != 0) {
    throw Error(kWhere, "num_kv_heads",
                base::concat(s.num_kv_heads, ", expected a divisor of num_heads ", s.num_heads));
  }
  if (!(s.dropout_p >= 0 && s.dropout_p <= 1)) {
    throw Error(kWhere, "dropout_p", base::concat(s.dropout_p, ", expected 0 to 1"));
  }
}

// Rows begin ... end of a matrix, elements begin ... end of a vector.
In<2> rows_between(const Tensor& t, std::ptrdiff_t begin, std::ptrdiff_t end) {
  const auto* data = static_cast<const std::byte*>(t.data());
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(size_of(t.dtype())), step = t.strides()[0];
  return {t.dtype(), data + begin * step * size, {end - begin, t.extent(1)}, {step, t.strides()[1]}};
}
In<1> between(const Tensor& t, std::ptrdiff_t begin, std::ptrdiff_t end) {
  if (!t.has_value()) return {};
  const auto* data = static_cast<const std::byte*>(t.data());
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(size_of(t.dtype())), step = t.strides()[0];
  return {t.dtype(), data + begin * step * size, Extents<1>(end - begin), Extents<1>(step)};
}

// x W^T + b in x's own layout.
Tensor project(const Input& x, const PackedWeight& weight, const In<1>& bias, Context& context) {
  Tensor copy, y = empty_like_rows(x, weight.out_features(), weight.dtype(), context);
  linear(as_rows(x, context, copy), weight, rows_of(y), {.bias = bias}, context);
  return y;
}

// The same, always (batch, tokens + appended, features), with `learned` and zeros in the appended tokens.
Tensor project_and_append(const TokenBatch& x, const PackedWeight& weight, const In<1>& bias, const Tensor& learned,
                          std::ptrdiff_t appended, Context& context) {
  const std::ptrdiff_t features = weight.out_features(), tokens = x.count();
  const std::ptrdiff_t shape[] = {x.batch(), tokens + appended, features};
  Tensor y = Tensor::zeros(weight.dtype(), shape, context.memory());
  const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(size_of(weight.dtype()));
  const std::ptrdiff_t x_step = x.tokens.stride(0) * static_cast<std::ptrdiff_t>(size_of(x.tokens.dtype()));
  for (std::ptrdiff_t b = 0; b < x.batch(); ++b) {
    const In<2> from(x.tokens.dtype(), static_cast<const std::byte*>(x.tokens.data()) + b * x_step,
                     {tokens, x.tokens.extent(2)}, {x.tokens.stride(1), x.tokens.stride(2)});
    auto* to = static_cast<std::byte*>(y.data()) + b * (tokens + appended) * features * size;
    linear(from, weight, Out<2>(weight.dtype(), to, {tokens, features}, {features, std::ptrdiff_t{1}}), {.bias = bias},
           context);
    for (std::ptrdiff_t c = 0; learned.has_value() && c < features; ++c) {
      base::store_as(weight.dtype(), to, tokens * features + c,
                     base::load_as<double>(learned.dtype(), learned.data(), c * learned.strides()[2]));
    }
  }
  return y;
}

}  // namespace

MultiHeadAttention::MultiHeadAttention(const MhaShape& shape) : shape_(shape) {
  check(shape);
  if (shape_.num_kv_heads == 0) shape_.num_kv_heads = shape_.num_heads;
  if (shape_.kdim == 0) shape_.kdim = shape_.embed_dim;
  if (shape_.vdim == 0) shape_.vdim = shape_.embed_dim;
  out_ = Linear({.in_features = shape_.embed_dim, .out_features = shape_.embed_dim, .bias = shape_.bias});
}

void MultiHeadAttention::load(const StateDict& state, const std::string& prefix, Context& context) {
  load_state(*this, state, prefix, context);
}

void MultiHeadAttention::read(StateReader& reader) {
  const std::ptrdiff_t e = shape_.embed_dim, g = shape_.num_kv_heads * head_dim();
  const auto pack = [&](const Tensor& t, std::ptrdiff_t begin, std::ptrdiff_t end) {
    return t.has_value() ? PackedWeight(rows_between(t, begin, end), reader.context()) : PackedWeight();
  };
  if (shape_.kdim == e && shape_.vdim == e) {
    const Tensor all = reader.take("in_proj_weight", {e + 2 * g, e});
    query_ = pack(all, 0, e);
    key_ = pack(all, e, e + g);
    value_ = pack(all, e + g, e + 2 * g);
  } else {
    query_ = pack(reader.take("q_proj_weight", {e, e}), 0, e);
    key_ = pack(reader.take("k_proj_weight", {g, shape_.kdim}), 0, g);
    value_ = pack(reader.take("v_proj_weight", {g, shape_.vdim}), 0, g);
  }
  if (shape_.bias) in_bias_ = reader.take("in_proj_bias", {e + 2 * g});
  if (shape_.add_bias_kv) {
    bias_k_ = reader.take("bias_k", {1, 1, g});
    bias_v_ = reader.take("bias_v", {1, 1, g});
  }
  StateReader out = reader.within("out_proj.");
  out_.read(out);
  in_weight_variable_ = q_weight_variable_ = k_weight_variable_ = v_weight_variable_ = {};
  in_bias_variable_ = bias_k_variable_ = bias_v_variable_ = {};
}

MhaOutput MultiHeadAttention::operator()(Input query, Input key, Input value, const MhaOptions& options,
                                         Context& context) const {
  const std::ptrdiff_t e = shape_.embed_dim, g = shape_.num_kv_heads * head_dim();
  // The constructor makes num_kv_heads at least 1; it is 0 in a layer that was never given a shape.
  if (shape_.num_kv_heads != 0 && is_trainable()) return as_loaded(context)(query, key, value, options, context);
  if (shape_.num_kv_heads == 0 || query_.out_features() != e || query_.in_features() != e) {
    throw Error(kWhere, "in_proj_weight", "not loaded");
  }
  const TokenBatch q = token_batch(kWhere, "query", query, shape_.layout, e);
  const TokenBatch k = token_batch(kWhere, "key", key, shape_.layout, shape_.kdim);
  const TokenBatch v = token_batch(kWhere, "value", value, shape_.layout, shape_.vdim);
  const MhaSizes sizes = mha_sizes(shape_, query, key, value, query_.dtype());
  const std::ptrdiff_t appended = sizes.appended;
  const MhaMasks masks(options, sizes, context);

  const In<1> q_bias = between(in_bias_, 0, e), k_bias = between(in_bias_, e, e + g);
  const In<1> v_bias = between(in_bias_, e + g, e + 2 * g);
  const Tensor queries = project(query, query_, q_bias, context);
  const Tensor keys = appended != 0 ? project_and_append(k, key_, k_bias, bias_k_, appended, context)
                                    : project(key, key_, k_bias, context);
  const Tensor values = appended != 0 ? project_and_append(v, value_, v_bias, bias_v_, appended, context)
                                      : project(value, value_, v_bias, context);
  const Layout kv_layout = appended != 0 ? Layout::batch_first : shape_.layout;

  Tensor mixed = empty_like_rows(query, e, query_.dtype(), context), weights;
  AttentionOutputs outs{.out = heads_of(mixed, shape_.layout, shape_.num_heads)};
  if (options.need_weights) {
    const std::ptrdiff_t shape[] = {q.batch(), shape_.num_heads, q.count(), k.count() + appended};
    weights = Tensor::empty(query_.dtype(), shape, context.memory());
    outs.weights = weights;
  }
  attention(heads_of(queries, shape_.layout, shape_.num_heads), heads_of(keys, kv_layout, shape_.num_kv_heads),
            heads_of(values, kv_layout, shape_.num_kv_heads), outs, masks.attention(), context);
  return {.y = out_(mixed, {.residual = options.residual}, context),
          .weights = asked_weights(weights, options, q.is_batched, context)};
}

}  // namespace attn::nn
