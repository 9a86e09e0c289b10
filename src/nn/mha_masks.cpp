// SPDX-License-Identifier: Apache-2.0
#include "nn/mha_masks.hpp"

#include <algorithm>

#include "base/concat.hpp"
#include "base/convert.hpp"
#include "nn/rows.hpp"
#include "nn/token_batch.hpp"
#include "ops/view_check.hpp"

namespace attn::nn {
namespace {

[[noreturn]] void refuse_shape(const char* name, const Input& mask, const std::string& expected) {
  throw Error(kMultiHeadAttention, name,
              base::concat("shape ", base::shape_text(mask.shape()), ", expected ", expected));
}

bool has_shape(const Input& mask, std::initializer_list<std::ptrdiff_t> shape) {
  return std::equal(mask.shape().begin(), mask.shape().end(), shape.begin(), shape.end());
}

// Offset of an element of a view in which extents of 1 are broadcast.
std::ptrdiff_t offset(const In<4>& v, const Extents<4>& at) {
  std::ptrdiff_t sum = 0;
  for (int d = 0; d < 4; ++d) sum += v.extent(d) == 1 ? 0 : at[d] * v.stride(d);
  return sum;
}

// Calls f for every place of an array of these extents, in row-major order.
template <class F>
void for_each_place(const Extents<4>& extents, const F& f) {
  Extents<4> at;
  for (at[0] = 0; at[0] < extents[0]; ++at[0]) {
    for (at[1] = 0; at[1] < extents[1]; ++at[1]) {
      for (at[2] = 0; at[2] < extents[2]; ++at[2]) {
        for (at[3] = 0; at[3] < extents[3]; ++at[3]) f(at);
      }
    }
  }
}

}  // namespace

MhaSizes mha_sizes(const MhaShape& shape, const Input& query, const Input& key, const Input& value, DType dtype) {
  const TokenBatch q = token_batch(kMultiHeadAttention, "query", query, shape.layout, shape.embed_dim);
  const TokenBatch k = token_batch(kMultiHeadAttention, "key", key, shape.layout, shape.kdim);
  const TokenBatch v = token_batch(kMultiHeadAttention, "value", value, shape.layout, shape.vdim);
  if (k.batch() != q.batch() || k.is_batched != q.is_batched) {
    throw Error(kMultiHeadAttention, "key",
                base::concat("shape ", base::shape_text(key.shape()), ", expected the query's batch of ", q.batch()));
  }
  if (v.batch() != k.batch() || v.count() != k.count() || v.is_batched != k.is_batched) {
    throw Error(kMultiHeadAttention, "value",
                base::concat("shape ", base::shape_text(value.shape()), ", expected the key's batch of ", k.batch(),
                             " and ", k.count(), " tokens"));
  }
  const std::ptrdiff_t appended = (shape.add_bias_kv ? 1 : 0) + (shape.add_zero_attn ? 1 : 0);
  return {.batch = q.batch(),
          .heads = shape.num_heads,
          .queries = q.count(),
          .keys = k.count(),
          .appended = appended,
          .is_batched = q.is_batched,
          .dtype = dtype};
}

MhaMasks::MhaMasks(const MhaOptions& options, const MhaSizes& sizes, Context& context)
    : sizes_(sizes), context_(context), attention_(options.attention) {
  const std::ptrdiff_t b = sizes.batch, h = sizes.heads, l = sizes.queries, s = sizes.keys;
  if (const Input& mask = options.key_padding_mask; mask.given()) {
    if (has_shape(mask, {b, s})) {
      add("key_padding_mask", mask, {b, 1, 1, s}, {mask.stride(0), 0, 0, mask.stride(1)});
    } else if (!sizes.is_batched && has_shape(mask, {s})) {
      add("key_padding_mask", mask, {1, 1, 1, s}, {0, 0, 0, mask.stride(0)});
    } else {
      refuse_shape("key_padding_mask", mask,
                   sizes.is_batched ? base::concat("(", b, ", ", s, ")") : base::concat("(", s, ")"));
    }
  }
  if (const Input& mask = options.attn_mask; mask.given()) {
    if (has_shape(mask, {l, s})) {
      add("attn_mask", mask, {1, 1, l, s}, {0, 0, mask.stride(0), mask.stride(1)});
    } else if (has_shape(mask, {b * h, l, s})) {
      add("attn_mask", mask, {b, h, l, s}, {h * mask.stride(0), mask.stride(0), mask.stride(1), mask.stride(2)});
    } else {
      refuse_shape("attn_mask", mask, base::concat("(", l, ", ", s, ") or (", b * h, ", ", l, ", ", s, ")"));
    }
  }
  if (options.is_causal) add_causal(options.attention.align);
  join_biases();
}

void MhaMasks::add(const char* name, const Input& mask, const Extents<4>& extents, const Extents<4>& strides) {
  check_memory(kMultiHeadAttention, name, mask);
  const In<4> view(mask.dtype(), mask.data(), extents, strides);
  if (is_floating(mask.dtype())) {
    biases_.push_back(view);
  } else if (mask.dtype() == DType::boolean || mask.dtype() == DType::u8) {
    attention_.mask = attention_.mask & Mask::drop(with_appended(view));
  } else {
    throw Error(kMultiHeadAttention, name,
                base::concat("dtype ", name_of(mask.dtype()), ", expected boolean, u8 or a floating dtype"));
  }
}

void MhaMasks::add_causal(const Align& align) {
  if (align.kind() != Align::Kind::unspecified && align.kind() != Align::Kind::top_left) {
    throw Error(kMultiHeadAttention, "is_causal",
                "means top_left, but attention.align says otherwise; expected Mask::causal() in attention.mask");
  }
  if (sizes_.appended == 0) {
    attention_.mask = attention_.mask & Mask::causal();
    attention_.align = Align::top_left();
    return;
  }
  // The appended keys stand behind all others, and every query sees them.
  Tensor hidden = Tensor::empty(DType::boolean, sizes_.queries, sizes_.keys);
  const View<bool, 2> at = hidden.view<bool, 2>();
  for (std::ptrdiff_t i = 0; i < sizes_.queries; ++i) {
    for (std::ptrdiff_t j = 0; j < sizes_.keys; ++j) at(i, j) = j > i;
  }
  attention_.mask = attention_.mask & Mask::drop(with_appended(at.unsqueeze(0).unsqueeze(0)));
}

// The mask over all keys: itself, or a copy in which the appended keys are visible.
In<4> MhaMasks::with_appended(const In<4>& hidden) {
  if (sizes_.appended == 0) return hidden;
  Extents<4> extents = hidden.extents();
  extents[3] += sizes_.appended;
  Tensor copy = Tensor::zeros(DType::u8, extents.n, context_.memory());
  const View<std::uint8_t, 4> to = copy.view<std::uint8_t, 4>();
  for_each_place(hidden.extents(), [&](const Extents<4>& at) {
    to(at[0], at[1], at[2], at[3]) = static_cast<const std::uint8_t*>(hidden.data())[offset(hidden, at)] != 0;
  });
  copies_.push_back(copy);
  return std::as_const(copy);
}

// The caller's own bias, which is added to others here and so never gets to the checks of attention.
void MhaMasks::check_bias() const {
  const In<4>& bias = attention_.bias;
  ops::check_floating(kMultiHeadAttention, "attention.bias", bias);
  const Extents<4> whole(sizes_.batch, sizes_.heads, sizes_.queries, sizes_.keys + sizes_.appended);
  for (int d = 0; d < 4; ++d) {
    if (bias.extent(d) == 1 || bias.extent(d) == whole[d]) continue;
    throw Error(kMultiHeadAttention, "attention.bias",
                base::concat("shape ", base::shape_text(bias.extents().n), ", expected ", base::shape_text(whole.n),
                             " or extents of 1"));
  }
}

// One bias out of all: the only one itself, or the sum in a tensor no larger than its largest parts.
void MhaMasks::join_biases() {
  if (biases_.empty()) return;
  if (biases_.size() == 1 && sizes_.appended == 0 && !attention_.bias.wanted()) {
    attention_.bias = biases_.front();
    return;
  }
  const std::size_t masks = biases_.size();  // which say nothing about appended keys
  if (attention_.bias.wanted()) {
    check_bias();
    biases_.push_back(attention_.bias);
  }
  Extents<4> extents(1, 1, 1, sizes_.keys + sizes_.appended);
  for (const In<4>& part : biases_) {
    for (int d = 0; d < 3; ++d) extents[d] = std::max(extents[d], part.extent(d));
  }
  Tensor sum = Tensor::zeros(sizes_.dtype, extents.n, context_.memory());
  std::ptrdiff_t n = 0;
  for_each_place(extents, [&](const Extents<4>& at) {
    double value = 0;
    for (std::size_t p = 0; p < biases_.size(); ++p) {
      if (p < masks && at[3] >= sizes_.keys) continue;
      value += base::load_as<double>(biases_[p].dtype(), biases_[p].data(), offset(biases_[p], at));
    }
    base::store_as(sizes_.dtype, sum.data(), n++, value);
  });
  copies_.push_back(sum);
  attention_.bias = std::as_const(sum);
}

}  // namespace attn::nn
