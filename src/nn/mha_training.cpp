// SPDX-License-Identifier: Apache-2.0
// MultiHeadAttention with gradients.
#include <attn/attention.hpp>
#include <attn/autograd/attention.hpp>
#include <attn/autograd/elementwise.hpp>
#include <attn/autograd/linear.hpp>
#include <attn/autograd/shape.hpp>
#include <attn/nn/multi_head_attention.hpp>
#include <cmath>

#include "base/concat.hpp"
#include "nn/mha_masks.hpp"
#include "nn/mha_weights.hpp"
#include "nn/rows.hpp"
#include "nn/token_batch.hpp"

namespace attn::nn {
namespace {

Variable to_batch_first(const Variable& x, Layout layout, Context& context) {
  if (x.value().rank() == 2) return autograd::reshape(x, {1, x.extent(0), x.extent(1)}, context);
  return layout == Layout::batch_first ? x : autograd::permute(x, {1, 0, 2});
}

Variable from_batch_first(const Variable& y, const Variable& like, Layout layout, Context& context) {
  if (like.value().rank() == 2) return autograd::reshape(y, {y.extent(1), y.extent(2)}, context);
  return layout == Layout::batch_first ? y : autograd::permute(y, {1, 0, 2});
}

// A learned vector and zeros behind the tokens of every sequence, as `shape` says.
Variable append(const Variable& x, const Variable& learned, const MhaShape& shape, Context& context) {
  const std::ptrdiff_t batch = x.extent(0), features = x.extent(2);
  const Variable zeros(Tensor::zeros(x.dtype(), batch, 1, features));
  std::vector<Variable> parts{x};
  if (shape.add_bias_kv) {
    parts.push_back(autograd::add(zeros, autograd::reshape(learned, {features}, context), context));
  }
  if (shape.add_zero_attn) parts.push_back(zeros);
  return parts.size() == 1 ? x : autograd::concat(parts, 1, context);
}

Variable rows(const Variable& x, std::ptrdiff_t begin, std::ptrdiff_t end) {
  return x.has_value() ? autograd::slice(x, 0, begin, end) : x;
}

}  // namespace

void MultiHeadAttention::visit(ParameterVisitor& visitor) {
  const std::ptrdiff_t e = shape_.embed_dim, g = shape_.num_kv_heads * head_dim();
  // Xavier's bound for a matrix (out, in), as PyTorch takes it: over the whole of in_proj_weight.
  const auto xavier = [](std::ptrdiff_t out, std::ptrdiff_t in) {
    return Start{.kind = StartKind::uniform, .scale = std::sqrt(6 / static_cast<double>(out + in))};
  };
  if (shape_.kdim == e && shape_.vdim == e) {
    visitor.parameter("in_proj_weight", in_weight_variable_, {e + 2 * g, e}, xavier(e + 2 * g, e));
  } else {
    visitor.parameter("q_proj_weight", q_weight_variable_, {e, e}, xavier(e, e));
    visitor.parameter("k_proj_weight", k_weight_variable_, {g, shape_.kdim}, xavier(g, shape_.kdim));
    visitor.parameter("v_proj_weight", v_weight_variable_, {g, shape_.vdim}, xavier(g, shape_.vdim));
  }
  if (shape_.bias) visitor.parameter("in_proj_bias", in_bias_variable_, {e + 2 * g}, {.kind = StartKind::zeros});
  if (shape_.add_bias_kv) {
    const Start normal{.kind = StartKind::normal, .scale = std::sqrt(2 / static_cast<double>(g + 1))};
    visitor.parameter("bias_k", bias_k_variable_, {1, 1, g}, normal);
    visitor.parameter("bias_v", bias_v_variable_, {1, 1, g}, normal);
  }
  visitor.within("out_proj", out_);
}

MultiHeadAttention MultiHeadAttention::as_loaded(Context& context) const {
  MultiHeadAttention copy = *this;
  const StateDict state = state_dict(copy);
  MultiHeadAttention loaded(shape_);
  loaded.load(state, {}, context);
  return loaded;
}

// One projection in place of three reads x once, and one product gives its whole gradient.
Variable MultiHeadAttention::attend_self(const Variable& x, const AttentionOptions& options, Context& context) const {
  const Variable tokens = to_batch_first(x, shape_.layout, context);
  const Variable qkv = autograd::linear(tokens, in_weight_variable_, in_bias_variable_, context);
  return autograd::self_attention(qkv, shape_.num_heads, shape_.num_kv_heads, options, context);
}

autograd::AttentionInputs MultiHeadAttention::project_heads(const Variable& query, const Variable& key,
                                                            const Variable& value, Context& context) const {
  const std::ptrdiff_t e = shape_.embed_dim, g = shape_.num_kv_heads * head_dim();
  const bool is_joint = in_weight_variable_.has_value();
  const auto linear = [&](const Variable& x, const Variable& own, std::ptrdiff_t begin, std::ptrdiff_t end) {
    const Variable weight = is_joint ? rows(in_weight_variable_, begin, end) : own;
    return autograd::linear(to_batch_first(x, shape_.layout, context), weight, rows(in_bias_variable_, begin, end),
                            context);
  };
  const Variable q = linear(query, q_weight_variable_, 0, e);
  const Variable k = append(linear(key, k_weight_variable_, e, e + g), bias_k_variable_, shape_, context);
  const Variable v = append(linear(value, v_weight_variable_, e + g, e + 2 * g), bias_v_variable_, shape_, context);
  return {.q = autograd::split_heads(q, shape_.num_heads, context),
          .k = autograd::split_heads(k, shape_.num_kv_heads, context),
          .v = autograd::split_heads(v, shape_.num_kv_heads, context)};
}

Tensor MultiHeadAttention::weights_of(const autograd::AttentionInputs& heads, DType dtype,
                                      const AttentionOptions& options, Context& context) const {
  const std::ptrdiff_t shape[] = {heads.q.extent(0), heads.q.extent(1), heads.q.extent(2), heads.k.extent(2)};
  Tensor weights = Tensor::empty(dtype, shape, context.memory());
  attn::attention(heads.q.value(), KeyValue(heads.k.value(), heads.v.value()), AttentionOutputs{.weights = weights},
                  options, context);
  return weights;
}

MhaVariables MultiHeadAttention::operator()(const Variable& query, const Variable& key, const Variable& value,
                                            const MhaOptions& options, Context& context) const {
  check_trainable(kMultiHeadAttention, in_weight_variable_.has_value() ? in_weight_variable_ : q_weight_variable_);
  if (options.norm) throw Error(kMultiHeadAttention, "norm", "given, expected none with gradients");
  const MhaSizes sizes = mha_sizes(shape_, query.value(), key.value(), value.value(),
                                   query.dtype() == DType::f64 ? DType::f64 : DType::f32);
  const MhaMasks masks(options, sizes, context);
  AttentionOptions attend = masks.attention();
  const bool is_self = query.is_same(key) && key.is_same(value) && in_weight_variable_.has_value();
  const bool is_projected = !is_self || sizes.appended != 0 || options.need_weights;
  const autograd::AttentionInputs heads =
      is_projected ? project_heads(query, key, value, context) : autograd::AttentionInputs();
  const Tensor weights = options.need_weights ? weights_of(heads, sizes.dtype, attend, context) : Tensor();
  if (options.dropout != nullptr && shape_.dropout_p > 0) attend.dropout = options.dropout->next(shape_.dropout_p);
  const Variable mixed = is_projected ? autograd::join_heads(autograd::attention(heads, attend, context), context)
                                      : attend_self(query, attend, context);
  Variable y = from_batch_first(out_(mixed, context), query, shape_.layout, context);
  if (options.residual.given()) y = autograd::add(y, Variable(contiguous(options.residual, context)), context);
  return {.y = y, .weights = Variable(asked_weights(weights, options, sizes.is_batched, context))};
}

}  // namespace attn::nn
