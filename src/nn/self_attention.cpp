// SPDX-License-Identifier: Apache-2.0
#include <attn/attention.hpp>
#include <attn/autograd/attention.hpp>
#include <attn/autograd/shape.hpp>
#include <attn/nn/self_attention.hpp>

#include "base/concat.hpp"
#include "base/convert.hpp"
#include "nn/rows.hpp"
#include "nn/token_batch.hpp"

namespace attn::nn {
namespace {

constexpr std::string_view kSelfAttention = "SelfAttention";

double number_at(const Tensor& t, std::ptrdiff_t n) {
  switch (t.dtype()) {
    case DType::boolean:
    case DType::u8:
      return static_cast<const std::uint8_t*>(t.data())[n];
    case DType::i8:
      return static_cast<const std::int8_t*>(t.data())[n];
    case DType::i32:
      return static_cast<const std::int32_t*>(t.data())[n];
    case DType::i64:
      return static_cast<double>(static_cast<const std::int64_t*>(t.data())[n]);
    default:
      return base::load_as<double>(t.dtype(), t.data(), n);
  }
}

// A mask of zeros and ones as booleans, (batch or 1, 1, tokens, tokens).
Tensor keep_mask(const Input& mask, std::ptrdiff_t batch, std::ptrdiff_t tokens, Context& context) {
  const bool fits = (mask.rank() == 2 || (mask.rank() == 3 && (mask.extent(0) == batch || mask.extent(0) == 1))) &&
                    mask.extent(-2) == tokens && mask.extent(-1) == tokens;
  if (!fits) {
    throw Error(kSelfAttention, "mask",
                base::concat("shape ", base::shape_text(mask.shape()), ", expected (", tokens, ", ", tokens, ") or (",
                             batch, ", ", tokens, ", ", tokens, ")"));
  }
  check_memory(kSelfAttention, "mask", mask);
  const Tensor given = contiguous(mask, context);
  const std::ptrdiff_t shape[] = {mask.rank() == 3 ? mask.extent(0) : 1, 1, tokens, tokens};
  Tensor keep = Tensor::empty(DType::boolean, shape, context.memory());
  for (std::ptrdiff_t n = 0; n < given.size(); ++n) {
    const double value = number_at(given, n);
    if (value != 0 && value != 1)
      throw Error(kSelfAttention, "mask", base::concat(value, " at ", n, ", expected 0 or 1"));
    keep.values<bool>()[static_cast<std::size_t>(n)] = value == 1;
  }
  return keep;
}

}  // namespace

SelfAttention::SelfAttention(const SelfAttentionShape& shape) : shape_(shape) {
  if (shape.d_model < 0 || shape.d_k < 0 || shape.d_v < 0) {
    throw Error(
        kSelfAttention, "shape",
        base::concat("d_model ", shape.d_model, ", d_k ", shape.d_k, ", d_v ", shape.d_v, ", expected 0 or more"));
  }
  if (shape_.d_k == 0) shape_.d_k = shape_.d_model;
  if (shape_.d_v == 0) shape_.d_v = shape_.d_model;
  query_ = Linear({.in_features = shape_.d_model, .out_features = shape_.d_k, .bias = shape_.bias});
  key_ = query_;
  value_ = Linear({.in_features = shape_.d_model, .out_features = shape_.d_v, .bias = shape_.bias});
}

void SelfAttention::load(const StateDict& state, const std::string& prefix, Context& context) {
  load_state(*this, state, prefix, context);
}

template <class To>
void SelfAttention::give_parts(To& to) {
  to.within("query", query_);
  to.within("key", key_);
  to.within("value", value_);
}

void SelfAttention::read(StateReader& reader) { give_parts(reader); }

void SelfAttention::visit(ParameterVisitor& visitor) { give_parts(visitor); }

SelfAttentionVariables SelfAttention::operator()(const Variable& x, const SelfAttentionOptions& options,
                                                 Context& context) const {
  const TokenBatch tokens = token_batch(kSelfAttention, "x", x.value(), Layout::batch_first, shape_.d_model);
  const std::ptrdiff_t batch = tokens.batch(), count = tokens.count();
  AttentionOptions attend = options.attention;
  Tensor keep, weights;
  if (options.mask.given()) {
    keep = keep_mask(options.mask, batch, count, context);
    attend.mask = attend.mask & Mask::keep(std::as_const(keep));
  }
  const auto head = [&](const Linear& layer) {
    const Variable y = layer(x, context);
    return autograd::reshape(y, {batch, 1, count, y.extent(-1)}, context);
  };
  const autograd::AttentionInputs inputs{.q = head(query_), .k = head(key_), .v = head(value_)};
  if (options.need_weights) {
    weights = Tensor::empty(inputs.v.dtype(), batch, 1, count, count);
    attention(inputs.q.value(), KeyValue(inputs.k.value(), inputs.v.value()), AttentionOutputs{.weights = weights},
              attend, context);
    weights = tokens.is_batched ? weights.reshape(batch, count, count) : weights.reshape(count, count);
  }
  const Variable y = autograd::attention(inputs, attend, context);
  if (!tokens.is_batched) return {.y = autograd::reshape(y, {count, shape_.d_v}, context), .weights = weights};
  return {.y = autograd::reshape(y, {batch, count, shape_.d_v}, context), .weights = weights};
}

SelfAttentionOutput SelfAttention::operator()(Input x, const SelfAttentionOptions& options, Context& context) const {
  const TokenBatch tokens = token_batch(kSelfAttention, "x", x, Layout::batch_first, shape_.d_model);
  AttentionOptions attend = options.attention;
  Tensor keep, weights;
  if (options.mask.given()) {
    keep = keep_mask(options.mask, tokens.batch(), tokens.count(), context);
    attend.mask = attend.mask & Mask::keep(std::as_const(keep));
  }
  const Tensor q = query_(x, {}, context), k = key_(x, {}, context), v = value_(x, {}, context);
  Tensor y = empty_like_rows(x, shape_.d_v, v.dtype(), context);
  AttentionOutputs outs{.out = heads_of(y, Layout::batch_first, 1)};
  if (options.need_weights) {
    const std::ptrdiff_t shape[] = {tokens.batch(), 1, tokens.count(), tokens.count()};
    weights = Tensor::empty(v.dtype(), shape, context.memory());
    outs.weights = weights;
  }
  attention(heads_of(q, Layout::batch_first, 1), heads_of(k, Layout::batch_first, 1),
            heads_of(v, Layout::batch_first, 1), outs, attend, context);
  if (!options.need_weights) return {.y = y};
  return {.y = y,
          .weights = tokens.is_batched ? weights.reshape(tokens.batch(), tokens.count(), tokens.count())
                                       : weights.reshape(tokens.count(), tokens.count())};
}

}  // namespace attn::nn
