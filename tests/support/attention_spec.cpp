// SPDX-License-Identifier: Apache-2.0
#include "support/attention_spec.hpp"

#include <algorithm>
#include <cmath>

namespace attn::test {
namespace {

using kernels::reference::Entry;

// Element of a view of integers or booleans; extents of 1 are broadcast.
template <int R>
std::int64_t integer(const In<R>& x, const Extents<R>& index) {
  std::ptrdiff_t at = 0;
  for (int d = 0; d < R; ++d) at += (x.extent(d) == 1 ? 0 : index[d]) * x.stride(d);
  switch (x.dtype()) {
    case DType::i32:
      return static_cast<const std::int32_t*>(x.data())[at];
    case DType::i64:
      return static_cast<const std::int64_t*>(x.data())[at];
    default:
      return static_cast<const std::uint8_t*>(x.data())[at];
  }
}

// A pair, said in local coordinates of entry n, and the number of keys that the entry has, lengths aside.
struct Pair {
  std::ptrdiff_t n, h, i, j;
  std::int64_t p;
  std::ptrdiff_t keys;
};

bool shows(const MaskSpec& mask, const Pair& at) {
  if (mask.causal && at.j > at.p) return false;
  if (mask.left != Mask::unbounded && at.j < at.p - mask.left) return false;
  if (mask.right != Mask::unbounded && at.j > at.p + mask.right) return false;
  if (mask.prefix && at.j > at.p && at.j >= *mask.prefix) return false;
  if (mask.lengths && at.j >= (*mask.lengths)[static_cast<std::size_t>(at.n)]) return false;
  if (mask.documents.wanted()) {
    if (at.p < 0 || at.p >= at.keys) return false;
    const auto p = static_cast<std::ptrdiff_t>(at.p);
    if (integer<2>(mask.documents, {at.n, p}) != integer<2>(mask.documents, {at.n, at.j})) return false;
  }
  if (mask.keep.wanted() && integer<4>(mask.keep, {at.n, at.h, at.i, at.j}) == 0) return false;
  if (mask.drop.wanted() && integer<4>(mask.drop, {at.n, at.h, at.i, at.j}) != 0) return false;
  return true;
}

// The packed sequences, or the batch entries.
std::vector<Entry> entries_of(In<4> q, In<4> k, const AttentionSpec& spec) {
  std::vector<Entry> entries;
  if (spec.cu_q.empty()) {
    for (std::ptrdiff_t b = 0; b < q.extent(0); ++b) entries.push_back({b, 0, q.extent(2), 0, k.extent(2)});
  }
  for (std::size_t n = 1; n < spec.cu_q.size(); ++n) {
    const auto span = [n](const std::vector<std::int32_t>& cu) { return cu[n] - cu[n - 1]; };
    entries.push_back({0, spec.cu_q[n - 1], span(spec.cu_q), spec.cu_k[n - 1], span(spec.cu_k)});
  }
  return entries;
}

}  // namespace

Mask build(const MaskSpec& spec) {
  Mask mask;
  if (spec.causal) mask = mask & Mask::causal();
  if (spec.left != Mask::unbounded || spec.right != Mask::unbounded) mask = mask & Mask::window(spec.left, spec.right);
  if (spec.prefix) mask = mask & Mask::prefix_lm(*spec.prefix);
  if (spec.lengths) mask = mask & Mask::lengths(*spec.lengths);
  if (spec.documents.wanted()) mask = mask & Mask::documents(spec.documents);
  if (spec.keep.wanted()) mask = mask & Mask::keep(spec.keep);
  if (spec.drop.wanted()) mask = Mask::drop(spec.drop) & mask;
  return mask;
}

AttentionOptions build(const AttentionSpec& spec) {
  AttentionOptions options{.mask = build(spec.mask),
                           .scale = spec.scale,
                           .softcap = spec.softcap,
                           .bias = spec.bias,
                           .sink = spec.sink,
                           .alibi = spec.alibi,
                           .packing = {.cu_q = spec.cu_q, .cu_k = spec.cu_k},
                           .dropout = spec.dropout};
  switch (spec.align) {
    case Align::Kind::unspecified:
      break;
    case Align::Kind::top_left:
      options.align = Align::top_left();
      break;
    case Align::Kind::bottom_right:
      options.align = Align::bottom_right();
      break;
    case Align::Kind::positions:
      options.align = Align::positions(spec.positions.as<const std::int32_t>());
      break;
  }
  return options;
}

kernels::reference::AttentionResult reference_attention(In<4> q, In<4> k, In<4> v, const AttentionSpec& spec) {
  const std::vector<Entry> whole = entries_of(q, k, spec);
  std::vector<Entry> entries = whole;
  if (spec.mask.lengths) {
    for (std::size_t n = 0; n < entries.size(); ++n) {
      entries[n].keys = std::min<std::ptrdiff_t>(entries[n].keys, (*spec.mask.lengths)[n]);
    }
  }
  const auto position = [&](std::ptrdiff_t n, std::ptrdiff_t i) -> std::int64_t {
    const Entry& entry = entries[static_cast<std::size_t>(n)];
    if (spec.align == Align::Kind::positions) return integer<2>(spec.positions, {n, i});
    return spec.align == Align::Kind::bottom_right ? i + entry.keys - entry.queries : i;
  };
  return kernels::reference::attention(
      {.q = q,
       .k = k,
       .v = v,
       .entries = entries,
       .scale = spec.scale.value_or(1 / std::sqrt(static_cast<double>(q.extent(3)))),
       .softcap = spec.softcap,
       .bias = spec.bias,
       .sink = spec.sink,
       .alibi = spec.alibi,
       .visible =
           [&](std::ptrdiff_t n, std::ptrdiff_t h, std::ptrdiff_t i, std::ptrdiff_t j) {
             return shows(spec.mask, {n, h, i, j, position(n, i), whole[static_cast<std::size_t>(n)].keys});
           },
       .position = position,
       .dropout_p = spec.dropout.p,
       .dropout_seed = spec.dropout.seed,
       .dropout_offset = spec.dropout.offset});
}

}  // namespace attn::test
