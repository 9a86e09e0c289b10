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

// Outputs of a packed weight can be read alone from each multiple of this on.
constexpr std::ptrdiff_t kPartStep = 16;

void check(const MhaShape& s) {
  const auto at_least = [](const char* name, std::ptrdiff_t value, std::ptrdiff_t least) {
    if (value < least) throw Error(kMultiHeadAttention, name, base::concat(value, ", expected ", least, " or more"));
  };
  at_least("embed_dim", s.embed_dim, 0);
  at_least("num_heads", s.num_heads, 1);
  at_least("num_kv_heads", s.num_kv_heads, 0);
  at_least("kdim", s.kdim, 0);
  at_least("vdim", s.vdim, 0);
  if (s.embed_dim % s.num_heads != 0) {
    throw Error(kMultiHeadAttention, "embed_dim",
                base::concat(s.embed_dim, ", expected a multiple of num_heads ", s.num_heads));
  }
  if (s.num_kv_heads != 0 && s.num_heads % s.num_kv_heads != 0) {
    throw Error(kMultiHeadAttention, "num_kv_heads",
                base::concat(s.num_kv_heads, ", expected a divisor of num_heads ", s.num_heads));
  }
  if (!(s.dropout_p >= 0 && s.dropout_p <= 1)) {
    throw Error(kMultiHeadAttention, "dropout_p", base::concat(s.dropout_p, ", expected 0 to 1"));
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

// Whether two operands are one.
bool is_same(const Input& a, const Input& b) {
  bool is_same = a.data() == b.data() && a.dtype() == b.dtype() && a.rank() == b.rank();
  for (int d = 0; is_same && d < a.rank(); ++d) is_same = a.extent(d) == b.extent(d) && a.stride(d) == b.stride(d);
  return is_same;
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

// in_proj_weight: as one product, of which each part can be read alone where parts begin where panels do.
void MultiHeadAttention::pack(const Tensor& weight, Context& context) {
  const std::ptrdiff_t e = shape_.embed_dim, g = shape_.num_kv_heads * head_dim();
  all_ = {};
  if (e % kPartStep == 0 && g % kPartStep == 0) {
    all_ = PackedWeight(weight, context);
    query_ = all_.outputs(0, e);
    key_ = all_.outputs(e, e + g);
    value_ = all_.outputs(e + g, e + 2 * g);
  } else {
    query_ = PackedWeight(rows_between(weight, 0, e), context);
    key_ = PackedWeight(rows_between(weight, e, e + g), context);
    value_ = PackedWeight(rows_between(weight, e + g, e + 2 * g), context);
  }
}

void MultiHeadAttention::read(StateReader& reader) {
  const std::ptrdiff_t e = shape_.embed_dim, g = shape_.num_kv_heads * head_dim();
  if (shape_.kdim == e && shape_.vdim == e) {
    const Tensor all = reader.take("in_proj_weight", {e + 2 * g, e});
    if (all.has_value()) pack(all, reader.context());
  } else {
    const auto pack_own = [&](const char* name, std::ptrdiff_t out, std::ptrdiff_t in) {
      const Tensor own = reader.take(name, {out, in});
      return own.has_value() ? PackedWeight(own, reader.context()) : PackedWeight();
    };
    all_ = {};
    query_ = pack_own("q_proj_weight", e, e);
    key_ = pack_own("k_proj_weight", g, shape_.kdim);
    value_ = pack_own("v_proj_weight", g, shape_.vdim);
  }
  if (shape_.bias) in_bias_ = in_dtype(reader.take("in_proj_bias", {e + 2 * g}), query_.dtype());
  if (shape_.add_bias_kv) {
    bias_k_ = reader.take("bias_k", {1, 1, g});
    bias_v_ = reader.take("bias_v", {1, 1, g});
  }
  reader.within("out_proj", out_);
  in_weight_variable_ = q_weight_variable_ = k_weight_variable_ = v_weight_variable_ = {};
  in_bias_variable_ = bias_k_variable_ = bias_v_variable_ = {};
}

MultiHeadAttention::Projected MultiHeadAttention::project(const Input& query, const Input& key, const Input& value,
                                                          std::ptrdiff_t appended, Context& context) const {
  const std::ptrdiff_t e = shape_.embed_dim, g = shape_.num_kv_heads * head_dim();
  const std::ptrdiff_t heads = shape_.num_heads, kv_heads = shape_.num_kv_heads;
  const Layout layout = shape_.layout;
  const In<1> q_bias = between(in_bias_, 0, e), k_bias = between(in_bias_, e, e + g);
  const In<1> v_bias = between(in_bias_, e + g, e + 2 * g);
  Projected to;
  if (appended == 0 && all_.out_features() != 0 && is_same(query, key) && is_same(query, value)) {
    // One product reads the tokens once; attention reads its columns where they are.
    const Tensor& all = to.memory[0] = nn::project(query, all_, between(in_bias_, 0, e + 2 * g), context);
    to.q = heads_of(all, layout, heads, 0, head_dim());
    to.k = heads_of(all, layout, kv_heads, e, head_dim());
    to.v = heads_of(all, layout, kv_heads, e + g, head_dim());
    return to;
  }
  const auto key_or_value = [&](const char* name, const Input& x, const PackedWeight& weight, const In<1>& bias,
                                const Tensor& learned) {
    if (appended == 0) return nn::project(x, weight, bias, context);
    const TokenBatch tokens = token_batch(kMultiHeadAttention, name, x, layout, weight.in_features());
    return project_and_append(tokens, weight, bias, learned, appended, context);
  };
  to.memory[0] = nn::project(query, query_, q_bias, context);
  to.memory[1] = key_or_value("key", key, key_, k_bias, bias_k_);
  to.memory[2] = key_or_value("value", value, value_, v_bias, bias_v_);
  const Layout kv_layout = appended != 0 ? Layout::batch_first : layout;
  to.q = heads_of(std::as_const(to.memory[0]), layout, heads);
  to.k = heads_of(std::as_const(to.memory[1]), kv_layout, kv_heads);
  to.v = heads_of(std::as_const(to.memory[2]), kv_layout, kv_heads);
  return to;
}

MhaOutput MultiHeadAttention::operator()(Input query, Input key, Input value, const MhaOptions& options,
                                         Context& context) const {
  const std::ptrdiff_t e = shape_.embed_dim;
  // The constructor makes num_kv_heads at least 1; it is 0 in a layer that was never given a shape.
  if (shape_.num_kv_heads != 0 && is_trainable()) return as_loaded(context)(query, key, value, options, context);
  if (shape_.num_kv_heads == 0 || query_.out_features() != e || query_.in_features() != e) {
    throw Error(kMultiHeadAttention, "in_proj_weight", "not loaded");
  }
  const TokenBatch q = token_batch(kMultiHeadAttention, "query", query, shape_.layout, e);
  const TokenBatch k = token_batch(kMultiHeadAttention, "key", key, shape_.layout, shape_.kdim);
  token_batch(kMultiHeadAttention, "value", value, shape_.layout, shape_.vdim);
  const MhaSizes sizes = mha_sizes(shape_, query, key, value, query_.dtype());
  const std::ptrdiff_t appended = sizes.appended;
  const MhaMasks masks(options, sizes, context);

  const Projected heads = project(query, key, value, appended, context);

  Tensor mixed = empty_like_rows(query, e, query_.dtype(), context), weights;
  AttentionOutputs outs{.out = heads_of(mixed, shape_.layout, shape_.num_heads)};
  if (options.need_weights) {
    const std::ptrdiff_t shape[] = {q.batch(), shape_.num_heads, q.count(), k.count() + appended};
    weights = Tensor::empty(query_.dtype(), shape, context.memory());
    outs.weights = weights;
  }
  attention(heads.q, KeyValue(heads.k, heads.v), outs, masks.attention(), context);
  return {.y = out_(mixed, {.residual = options.residual, .norm = options.norm}, context),
          .weights = asked_weights(weights, options, q.is_batched, context)};
}

}  // namespace attn::nn
