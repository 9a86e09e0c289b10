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

// A call in the reference's terms, for as long as this lives.
class ReferenceCall {
 public:
  ReferenceCall(In<4> q, In<4> k, In<4> v, const AttentionSpec& spec)
      : q_(q), k_(k), v_(v), spec_(spec), whole_(entries_of(q, k, spec)), entries_(whole_) {
    if (!spec.mask.lengths) return;
    for (std::size_t n = 0; n < entries_.size(); ++n) {
      entries_[n].keys = std::min<std::ptrdiff_t>(entries_[n].keys, (*spec.mask.lengths)[n]);
    }
  }

  kernels::reference::AttentionInputs inputs() const {
    return {.q = q_,
            .k = k_,
            .v = v_,
            .entries = entries_,
            .scale = spec_.scale.value_or(1 / std::sqrt(static_cast<double>(q_.extent(3)))),
            .softcap = spec_.softcap,
            .bias = spec_.bias,
            .sink = spec_.sink,
            .alibi = spec_.alibi,
            .visible =
                [this](std::ptrdiff_t n, std::ptrdiff_t h, std::ptrdiff_t i, std::ptrdiff_t j) {
                  return shows(spec_.mask, {n, h, i, j, position(n, i), whole_[static_cast<std::size_t>(n)].keys});
                },
            .position = [this](std::ptrdiff_t n, std::ptrdiff_t i) { return position(n, i); },
            .dropout_p = spec_.dropout.p,
            .dropout_seed = spec_.dropout.seed,
            .dropout_offset = spec_.dropout.offset};
  }

 private:
  std::int64_t position(std::ptrdiff_t n, std::ptrdiff_t i) const {
    const Entry& entry = entries_[static_cast<std::size_t>(n)];
    if (spec_.align == Align::Kind::positions) return integer<2>(spec_.positions, {n, i});
    return spec_.align == Align::Kind::bottom_right ? i + entry.keys - entry.queries : i;
  }

  In<4> q_, k_, v_;
  const AttentionSpec& spec_;
  std::vector<Entry> whole_;    // as they are
  std::vector<Entry> entries_;  // with keys up to the lengths
};

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
  return kernels::reference::attention(ReferenceCall(q, k, v, spec).inputs());
}

kernels::reference::AttentionInputGrads reference_attention_backward(
    In<4> q, In<4> k, In<4> v, const AttentionSpec& spec, const kernels::reference::AttentionOutputGrads& grads) {
  return kernels::reference::attention_backward(ReferenceCall(q, k, v, spec).inputs(), grads);
}

}  // namespace attn::test
