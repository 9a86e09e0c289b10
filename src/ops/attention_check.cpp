// SPDX-License-Identifier: Apache-2.0
#include "ops/attention_check.hpp"

#include <algorithm>
#include <cmath>

#include "ops/attention_plan.hpp"
#include "ops/mask_data.hpp"
#include "ops/view_check.hpp"

namespace attn::ops {
namespace {

using base::concat;

void check_heads(std::string_view function, const In<4>& q, const In<4>& k, const In<4>& v) {
  if (k.extent(1) != v.extent(1)) {
    throw Error(function, "v", concat(v.extent(1), " heads, expected ", k.extent(1), " as in k"));
  }
  const bool is_group = k.extent(1) == 0 ? q.extent(1) == 0 : q.extent(1) % k.extent(1) == 0;
  if (!is_group) {
    throw Error(function, "k", concat(k.extent(1), " heads, expected a divisor of q's ", q.extent(1)));
  }
}

void check_cu(std::string_view function, std::string_view name, std::span<const std::int32_t> cu,
              std::ptrdiff_t tokens) {
  for (std::size_t n = 0; n < cu.size(); ++n) {
    const std::int32_t previous = n == 0 ? 0 : cu[n - 1];
    if (cu[n] < previous || cu[n] > tokens) {
      throw Error(function, concat("packing.", name, "[", n, "]"),
                  concat(cu[n], ", expected ", previous, " to ", tokens, ": ascending, within the tokens"));
    }
  }
}

// A bias or a pair mask: broadcast where an extent is 1. In packed calls it covers the longest sequence or more.
void check_pairs(std::string_view function, std::string_view name, const In<4>& view, const CallSizes& sizes) {
  check_view(function, name, view);
  const std::ptrdiff_t wanted[] = {sizes.entries, sizes.query_heads, sizes.queries, sizes.keys};
  for (int d = 0; d < 4; ++d) {
    const bool may_be_longer = sizes.is_packed && d >= 2;
    if (view.extent(d) == 1 || view.extent(d) == wanted[d] || (may_be_longer && view.extent(d) > wanted[d])) continue;
    constexpr const char* kDimensions[] = {"batch", "query heads", "queries", "keys"};
    const std::string expected = wanted[d] == 1 ? "1" : concat("1 or ", wanted[d]);
    throw Error(function, name,
                concat("extent ", view.extent(d), " of dimension ", d, " (", kDimensions[d], "), expected ", expected));
  }
}

void check_per_head(std::string_view function, std::string_view name, const In<1>& view, const CallSizes& sizes) {
  check_floating(function, name, view);
  check_extents(function, name, view, {sizes.query_heads}, "for the heads of q");
}

void check_mask(std::string_view function, const CallSizes& sizes, const MaskData& mask) {
  if (mask.lengths) {
    if (static_cast<std::ptrdiff_t>(mask.lengths->size()) != sizes.entries) {
      throw Error(function, "mask",
                  concat(mask.lengths->size(), " lengths, expected ", sizes.entries, ", one for each ",
                         sizes.is_packed ? "sequence" : "batch entry"));
    }
    for (std::size_t b = 0; b < mask.lengths->size(); ++b) {
      if ((*mask.lengths)[b] > sizes.keys) {
        throw Error(function, concat("mask: lengths[", b, "]"),
                    concat((*mask.lengths)[b], ", expected at most the ", sizes.keys, " keys"));
      }
    }
  }
  for (const In<2>& ids : mask.documents) {
    check_view(function, "mask: documents", ids);
    if (ids.dtype() != DType::i32 && ids.dtype() != DType::i64) {
      throw Error(function, "mask: documents", concat("dtype ", name_of(ids.dtype()), ", expected i32 or i64"));
    }
    const bool fits = (ids.extent(0) == 1 || ids.extent(0) == sizes.entries) &&
                      (ids.extent(1) == sizes.keys || (sizes.is_packed && ids.extent(1) > sizes.keys));
    if (!fits) {
      throw Error(function, "mask: documents",
                  concat("shape ", base::shape_text(ids.extents().n), ", expected (1 or ", sizes.entries, ", ",
                         sizes.keys, ")"));
    }
  }
  for (const MaskData::Pairs& pairs : mask.pairs) {
    const char* name = pairs.keep ? "mask: keep" : "mask: drop";
    check_pairs(function, name, pairs.view, sizes);
    if (pairs.view.dtype() != DType::boolean && pairs.view.dtype() != DType::u8) {
      throw Error(function, name, concat("dtype ", name_of(pairs.view.dtype()), ", expected boolean or u8"));
    }
  }
}

void check_align(std::string_view function, const CallSizes& sizes, const AttentionOptions& options,
                 const MaskData& mask) {
  const bool needs_positions = mask.is_positional() || options.alibi.wanted();
  if (needs_positions && !sizes.is_square && options.align.kind() == Align::Kind::unspecified) {
    throw Error(function, "align",
                concat("not given, expected top_left, bottom_right or positions, since the mask or alibi depends on "
                       "positions and there are ",
                       sizes.queries, " queries to ", sizes.keys, " keys"));
  }
  if (options.align.kind() != Align::Kind::positions) return;
  const View<const std::int32_t, 2>& positions = options.align.given_positions();
  const bool fits = (positions.extent(0) == 1 || positions.extent(0) == sizes.entries) &&
                    (positions.extent(1) == sizes.queries || (sizes.is_packed && positions.extent(1) > sizes.queries));
  if (!fits) {
    throw Error(function, "align: positions",
                concat("shape ", base::shape_text(positions.extents().n), ", expected (1 or ", sizes.entries, ", ",
                       sizes.queries, ")"));
  }
  if (positions.data() == nullptr && !is_empty(positions.extents())) {
    throw Error(function, "align: positions", "null pointer, expected memory");
  }
}

}  // namespace

void check_operands(std::string_view function, const In<4>& q, const In<4>& k, const In<4>& v) {
  check_floating(function, "q", q);
  check_floating(function, "k", k);
  check_floating(function, "v", v);
  if (k.extent(0) != q.extent(0)) {
    throw Error(function, "k", concat("batch ", k.extent(0), ", expected ", q.extent(0), " as in q"));
  }
  if (v.extent(0) != q.extent(0)) {
    throw Error(function, "v", concat("batch ", v.extent(0), ", expected ", q.extent(0), " as in q"));
  }
  check_heads(function, q, k, v);
  if (q.extent(3) == 0) throw Error(function, "q", "head dim 0, expected 1 or more");
  if (v.extent(3) == 0) throw Error(function, "v", "head dim 0, expected 1 or more");
  if (k.extent(3) != q.extent(3)) {
    throw Error(function, "k", concat("head dim ", k.extent(3), ", expected ", q.extent(3), " as in q"));
  }
  if (v.extent(2) != k.extent(2)) {
    throw Error(function, "v", concat(v.extent(2), " keys, expected ", k.extent(2), " as in k"));
  }
}

void check_outputs(std::string_view function, const In<4>& q, const In<4>& k, const In<4>& v,
                   const AttentionOutputs& outs) {
  const std::ptrdiff_t batch = q.extent(0), heads = q.extent(1), queries = q.extent(2), keys = k.extent(2);
  if (!outs.out.wanted() && !outs.lse.wanted() && !outs.weights.wanted() && !outs.scores.wanted()) {
    throw Error(function, "outs", "nothing asked for, expected at least one of out, lse, weights and scores");
  }
  if (outs.out.wanted()) {
    check_floating(function, "out", outs.out);
    check_extents(function, "out", outs.out, {batch, heads, queries, v.extent(3)}, "as in q, with the head dim of v");
  }
  if (outs.lse.wanted()) {
    check_floating(function, "lse", outs.lse);
    check_extents(function, "lse", outs.lse, {batch, heads, queries}, "as in q");
    const DType compute = compute_dtype(q.dtype(), k.dtype(), v.dtype());
    if (outs.lse.dtype() != compute) {
      throw Error(function, "lse", concat("dtype ", name_of(outs.lse.dtype()), ", expected ", name_of(compute)));
    }
  }
  if (outs.weights.wanted()) {
    check_floating(function, "weights", outs.weights);
    check_extents(function, "weights", outs.weights, {batch, heads, queries, keys}, "as in q and k");
  }
  if (outs.scores.wanted()) {
    check_floating(function, "scores", outs.scores);
    check_extents(function, "scores", outs.scores, {batch, heads, queries, keys}, "as in q and k");
  }
}

void check_packing(std::string_view function, const In<4>& q, const In<4>& k, const Packing& packing) {
  if (packing.cu_q.empty() && packing.cu_k.empty()) return;
  if (packing.cu_q.size() != packing.cu_k.size()) {
    throw Error(function, "packing.cu_k",
                concat(packing.cu_k.size(), " entries, expected ", packing.cu_q.size(), " as in cu_q"));
  }
  if (q.extent(0) != 1) throw Error(function, "q", concat("batch ", q.extent(0), ", expected 1 in a packed call"));
  check_cu(function, "cu_q", packing.cu_q, q.extent(2));
  check_cu(function, "cu_k", packing.cu_k, k.extent(2));
}

void check_options(std::string_view function, const CallSizes& sizes, const AttentionOptions& options) {
  const MaskData& mask = MaskAccess::data(options.mask);
  check_mask(function, sizes, mask);
  check_align(function, sizes, options, mask);
  // Kernels compute in f32 as well: what overflows there, or vanishes, would give NaN without a word.
  if (options.scale && !std::isfinite(static_cast<float>(*options.scale))) {
    throw Error(function, "scale", concat(*options.scale, ", expected a finite number within f32's range"));
  }
  if (options.softcap) {
    const float cap = static_cast<float>(*options.softcap);
    if (!(std::isnormal(cap) && cap > 0)) {
      throw Error(function, "softcap", concat(*options.softcap, ", expected a number above 0 within f32's range"));
    }
  }
  if (options.bias.wanted()) {
    check_floating(function, "bias", options.bias);
    check_pairs(function, "bias", options.bias, sizes);
  }
  if (options.sink.wanted()) check_per_head(function, "sink", options.sink, sizes);
  if (options.alibi.wanted()) check_per_head(function, "alibi", options.alibi, sizes);
  if (!(options.dropout.p >= 0 && options.dropout.p <= 1)) {
    throw Error(function, "dropout.p", concat(options.dropout.p, ", expected 0 to 1"));
  }
}

}  // namespace attn::ops
