// SPDX-License-Identifier: Apache-2.0
#include "ops/attention_plan.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/concat.hpp"
#include "ops/attention_check.hpp"
#include "ops/mask_data.hpp"

namespace attn::ops {
namespace {

std::int64_t offset_of(Align align, std::ptrdiff_t queries, std::int64_t keys) {
  return align.kind() == Align::Kind::bottom_right ? keys - queries : 0;
}

// Packed sequences, and the tokens between and around them as gaps.
std::vector<Sequence> packed_sequences(const Packing& packing, std::ptrdiff_t queries) {
  std::vector<Sequence> sequences;
  const auto add_gap = [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    if (begin < end) sequences.push_back({.first_query = begin, .queries = end - begin, .is_gap = true});
  };
  add_gap(0, packing.cu_q.front());
  for (std::size_t n = 0; n + 1 < packing.cu_q.size(); ++n) {
    sequences.push_back({.index = static_cast<std::ptrdiff_t>(n),
                         .first_query = packing.cu_q[n],
                         .queries = packing.cu_q[n + 1] - packing.cu_q[n],
                         .first_key = packing.cu_k[n],
                         .all_keys = packing.cu_k[n + 1] - packing.cu_k[n]});
  }
  add_gap(packing.cu_q.back(), queries);
  return sequences;
}

std::vector<Sequence> batch_sequences(const In<4>& q, const In<4>& k) {
  std::vector<Sequence> sequences;
  for (std::ptrdiff_t b = 0; b < q.extent(0); ++b) {
    sequences.push_back({.batch = b, .index = b, .queries = q.extent(2), .all_keys = k.extent(2)});
  }
  return sequences;
}

CallSizes sizes_of(const std::vector<Sequence>& sequences, const In<4>& q, const In<4>& k, bool is_packed) {
  if (!is_packed) {
    return {.entries = q.extent(0),
            .query_heads = q.extent(1),
            .queries = q.extent(2),
            .keys = k.extent(2),
            .is_square = q.extent(2) == k.extent(2)};
  }
  CallSizes sizes{.query_heads = q.extent(1), .is_packed = true, .is_square = true};
  for (const Sequence& s : sequences) {
    if (s.is_gap) continue;
    ++sizes.entries;
    sizes.queries = std::max(sizes.queries, s.queries);
    sizes.keys = std::max(sizes.keys, s.all_keys);
    sizes.is_square = sizes.is_square && s.queries == s.all_keys;
  }
  return sizes;
}

void set_lengths(const MaskData& mask, std::string_view function, std::vector<Sequence>& sequences) {
  for (Sequence& s : sequences) {
    s.keys = s.all_keys;
    if (s.is_gap || !mask.lengths) continue;
    const std::int64_t length = (*mask.lengths)[static_cast<std::size_t>(s.index)];
    if (length > s.all_keys) {
      throw Error(function, base::concat("mask: lengths[", s.index, "]"),
                  base::concat(length, ", expected at most the ", s.all_keys, " keys of that sequence"));
    }
    s.keys = length;
  }
}

}  // namespace

DType compute_dtype(DType q, DType k, DType v) noexcept {
  return q == DType::f64 || k == DType::f64 || v == DType::f64 ? DType::f64 : DType::f32;
}

AttentionPlan plan_attention(const char* function, In<4> q, const KeyValue& kv, const AttentionOutputs& outs,
                             const AttentionOptions& options) {
  check_operands(function, q, kv.k(), kv.v());
  check_outputs(function, q, kv.k(), kv.v(), outs);
  AttentionPlan plan = plan_operands(function, q, kv, options);
  plan.outs = &outs;
  return plan;
}

AttentionPlan plan_operands(const char* function, In<4> q, const KeyValue& kv, const AttentionOptions& options) {
  check_operands(function, q, kv.k(), kv.v());
  check_packing(function, q, kv.k(), options.packing);
  const bool is_packed = !options.packing.cu_q.empty();
  static constexpr AttentionOutputs kNone = {};
  AttentionPlan plan{.q = q, .k = kv.k(), .v = kv.v(), .outs = &kNone, .options = &options};
  plan.sequences = is_packed ? packed_sequences(options.packing, q.extent(2)) : batch_sequences(q, kv.k());
  check_options(function, sizes_of(plan.sequences, q, kv.k(), is_packed), options);
  set_lengths(MaskAccess::data(options.mask), function, plan.sequences);
  for (Sequence& s : plan.sequences) s.offset = offset_of(options.align, s.queries, s.keys);
  plan.compute = compute_dtype(q.dtype(), kv.k().dtype(), kv.v().dtype());
  plan.scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(q.extent(3))));
  plan.group = kv.k().extent(1) == 0 ? 1 : std::max<std::ptrdiff_t>(1, q.extent(1) / kv.k().extent(1));
  return plan;
}

void set_visible_keys(const AttentionPlan& plan, const Sequence& sequence, std::ptrdiff_t first, std::ptrdiff_t count,
                      const VisibleKeys& visible) noexcept {
  const MaskData& mask = MaskAccess::data(plan.options->mask);
  const Align& align = plan.options->align;
  const auto [position, begin, end] = visible;
  std::iota(position, position + count, first + sequence.offset);
  std::fill_n(begin, count, std::int64_t{0});
  std::fill_n(end, count, sequence.keys);
  if (sequence.is_gap) return;
  if (align.kind() == Align::Kind::positions) {
    const View<const std::int32_t, 2>& given = align.given_positions();
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      position[i] = given(given.extent(0) == 1 ? 0 : sequence.index, first + i);
    }
  }
  if (!mask.is_positional()) return;
  for (std::ptrdiff_t i = 0; i < count; ++i) {
    const std::int64_t p = position[i];
    if (mask.causal) end[i] = std::min(end[i], p + 1);
    if (mask.prefix) end[i] = std::min(end[i], std::max(p + 1, *mask.prefix));
    // Compared before they are added to p: a side may be any 64-bit number, `unbounded` among them.
    if (mask.left < p) begin[i] = p - mask.left;
    if (mask.right < end[i] - p) end[i] = p + mask.right + 1;
    if (!mask.documents.empty() && (p < 0 || p >= sequence.all_keys)) end[i] = 0;
    end[i] = std::max<std::int64_t>(end[i], 0);
    begin[i] = std::min(begin[i], end[i]);
  }
}

}  // namespace attn::ops
