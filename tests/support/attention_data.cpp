// SPDX-License-Identifier: Apache-2.0
#include "support/attention_data.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/random.hpp"

namespace attn::test {

// Makes the parts of a case one after another, each from the same stream of random numbers.
struct AttentionMaker {
  const AttentionCase& c;
  AttentionData& data;
  Random random;
  // The entries' sizes, that masks and options see: batch, greatest number of queries, of keys.
  std::ptrdiff_t entries = c.size.batch, queries = c.size.queries, keys = c.size.keys;

  void pack() {
    if (c.packing == PackingKind::none) return;
    const std::int32_t gap = c.packing == PackingKind::packed_with_gaps ? 3 : 0;
    const bool square = queries == keys;  // stays so in each sequence, since the alignment may be left out
    data.spec.cu_q.assign(1, gap);
    data.spec.cu_k.assign(1, gap);
    for (std::ptrdiff_t n = 0; n < entries; ++n) {
      const bool full = n == 0;
      const auto l = static_cast<std::int32_t>(full ? queries : random.below(queries + 1));
      const auto s = square ? l : static_cast<std::int32_t>(full ? keys : random.below(keys + 1));
      data.spec.cu_q.push_back(data.spec.cu_q.back() + l);
      data.spec.cu_k.push_back(data.spec.cu_k.back() + s);
    }
  }

  void operands() {
    const bool packed = c.packing != PackingKind::none;
    const std::int32_t gap = c.packing == PackingKind::packed_with_gaps ? 2 : 0;
    const std::ptrdiff_t batch = packed ? 1 : entries;
    const std::ptrdiff_t l = packed ? data.spec.cu_q.back() + gap : queries;
    const std::ptrdiff_t s = packed ? data.spec.cu_k.back() + gap : keys;
    data.q = {c.q, {batch, c.heads.query, l, c.dims.qk}, c.q_layout};
    data.k = {c.k, {batch, c.heads.kv, s, c.dims.qk}, c.k_layout};
    data.v = {c.v, {batch, c.heads.kv, s, c.dims.v}, c.v_layout};
    data.q.fill([&](const auto&) { return c.q_magnitude * random.normal(); });
    data.k.fill([&](const auto&) { return random.normal(); });
    data.v.fill([&](const auto&) { return random.normal(); });
  }

  void outputs() {
    const Extents<4>& q = data.q.extents();
    const std::ptrdiff_t s = data.k.extents()[2];
    const auto asked = [&](std::initializer_list<OutputSet> sets) {
      return std::find(sets.begin(), sets.end(), c.outputs) != sets.end();
    };
    if (!asked({OutputSet::lse, OutputSet::weights_lse})) {
      data.out = {c.out, {q[0], q[1], q[2], c.dims.v}, c.out_layout};
    }
    if (asked({OutputSet::out_lse, OutputSet::lse, OutputSet::weights_lse, OutputSet::everything})) {
      data.lse = {c.computes_f64() ? DType::f64 : DType::f32, {q[0], q[1], q[2]}, c.out_layout};
    }
    if (asked({OutputSet::out_weights, OutputSet::weights_lse, OutputSet::everything})) {
      data.weights = {c.map_dtype, {q[0], q[1], q[2], s}, c.out_layout};
    }
    if (asked({OutputSet::out_scaled, OutputSet::out_capped, OutputSet::out_masked, OutputSet::everything})) {
      data.scores = {c.map_dtype, {q[0], q[1], q[2], s}, c.out_layout};
    }
    data.stage = asked({OutputSet::out_scaled})   ? ScoreStage::scaled
                 : asked({OutputSet::out_capped}) ? ScoreStage::capped
                                                  : ScoreStage::masked;
  }

  // Booleans of which about one in `nth` hides.
  GuardedArray<4> pairs(const Extents<4>& extents, bool shown, std::int64_t nth) {
    GuardedArray<4> made(c.number % 2 == 0 ? DType::boolean : DType::u8, extents, c.options_layout);
    made.fill([&](const auto&) { return (random.below(nth) == 0) != shown ? 1 : 0; });
    return made;
  }
  void keep(const Extents<4>& extents) {
    data.keep_ = pairs(extents, true, 3);
    data.spec.mask.keep = data.keep_.in();
  }
  void drop(const Extents<4>& extents) {
    data.drop_ = pairs(extents, false, 3);
    data.spec.mask.drop = data.drop_.in();
  }
  void lengths() {
    data.spec.mask.lengths.emplace();
    for (std::ptrdiff_t n = 0; n < entries; ++n) {
      const auto at = static_cast<std::size_t>(n);
      const std::ptrdiff_t most = data.spec.cu_k.empty() ? keys : data.spec.cu_k[at + 1] - data.spec.cu_k[at];
      data.spec.mask.lengths->push_back(random.below(most + 1));
    }
  }
  // Documents of about ten tokens; those of one entry in two runs, so that equal ids need not stand together.
  void documents() {
    const std::ptrdiff_t batch = c.number % 3 == 0 ? 1 : entries;
    data.documents_ = {c.number % 2 == 0 ? DType::i32 : DType::i64, {batch, keys}};
    data.documents_.fill([&](const Extents<2>& at) { return static_cast<double>((at[1] / 10 + at[0]) % 4); });
    data.spec.mask.documents = data.documents_.in();
  }

  void mask() {
    MaskSpec& mask = data.spec.mask;
    const std::ptrdiff_t h = c.heads.query;
    const MaskKind kind = c.mask;
    const auto is = [kind](std::initializer_list<MaskKind> kinds) {
      return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
    };
    mask.causal = is({MaskKind::causal, MaskKind::causal_lengths, MaskKind::causal_window});
    if (is({MaskKind::window, MaskKind::window_left, MaskKind::causal_window})) mask.left = 5;
    if (is({MaskKind::window, MaskKind::window_right})) mask.right = 2;
    if (is({MaskKind::window_documents})) mask.left = mask.right = 12;
    if (is({MaskKind::prefix_lm, MaskKind::prefix_keep})) mask.prefix = 4;
    if (is({MaskKind::lengths, MaskKind::causal_lengths, MaskKind::lengths_drop})) lengths();
    if (is({MaskKind::documents, MaskKind::window_documents})) documents();
    if (is({MaskKind::keep, MaskKind::prefix_keep})) keep({entries, h, queries, keys});
    if (is({MaskKind::keep_keys})) keep({entries, 1, 1, keys});
    if (is({MaskKind::drop})) drop({1, h, queries, keys});
    if (is({MaskKind::lengths_drop})) drop({entries, 1, queries, keys});
    if (is({MaskKind::empty_rows, MaskKind::nothing})) {
      data.keep_ = {DType::boolean, {1, 1, queries, 1}};
      data.keep_.fill([&](const Extents<4>& at) { return kind == MaskKind::empty_rows && at[2] % 3 != 1; });
      mask.keep = data.keep_.in();
    }
  }

  void align() {
    data.spec.align = c.align;
    if (c.align != Align::Kind::positions) return;
    // Out of order, some before the first key or behind the last.
    data.positions_ = {DType::i32, {c.number % 2 == 0 ? 1 : entries, queries}, c.options_layout};
    data.positions_.fill([&](const auto&) { return static_cast<double>(random.below(keys + 4) - 2); });
    data.spec.positions = data.positions_.in();
  }

  void bias() {
    const std::ptrdiff_t h = c.heads.query;
    const Extents<4> extents[] = {
        {0, 0, 0, 0},          {entries, h, queries, keys}, {entries, 1, queries, keys}, {1, h, queries, keys},
        {1, 1, queries, keys}, {entries, 1, 1, keys},       {entries, h, queries, keys}};
    if (c.bias == BiasKind::none) return;
    data.bias_ = {c.options_dtype, extents[static_cast<int>(c.bias)], c.options_layout};
    const bool hides = c.bias == BiasKind::with_infinity;
    data.bias_.fill([&](const auto&) {
      return hides && random.below(4) == 0 ? -std::numeric_limits<double>::infinity() : random.normal();
    });
    data.spec.bias = data.bias_.in();
  }

  void numbers() {
    const double standard = 1 / std::sqrt(static_cast<double>(c.dims.qk));
    if (c.scale == ScaleKind::larger) data.spec.scale = 1.5 * standard;
    if (c.scale == ScaleKind::zero) data.spec.scale = 0;
    if (c.scale == ScaleKind::negative) data.spec.scale = -standard;
    data.spec.softcap = c.softcap;
    const Layout layout = c.options_layout == Layout::broadcast ? Layout::dense : c.options_layout;
    if (c.sink) {
      data.sink_ = {c.options_dtype, {c.heads.query}, layout};
      data.sink_.fill([&](const auto&) { return random.normal(); });
      data.spec.sink = data.sink_.in();
    }
    if (c.alibi) {  // slopes 2^-2, 2^-3, ... as the method has them
      data.alibi_ = {c.options_dtype, {c.heads.query}, layout};
      data.alibi_.fill([](const Extents<1>& at) { return std::ldexp(1.0, static_cast<int>(-2 - at[0])); });
      data.spec.alibi = data.alibi_.in();
    }
    data.spec.dropout = {.p = c.dropout_p, .seed = c.seed, .offset = c.seed << 33};
  }
};

AttentionData::AttentionData(const AttentionCase& described) {
  AttentionMaker make{described, *this, Random(described.seed)};
  make.pack();
  make.operands();
  make.mask();
  make.align();
  make.bias();
  make.numbers();
  make.outputs();
}

AttentionOutputs AttentionData::outputs() {
  return {.out = out.out(), .lse = lse.out(), .weights = weights.out(), .scores = scores.out(), .score_stage = stage};
}

void AttentionData::poison_outputs() {
  out.poison();
  lse.poison();
  weights.poison();
  scores.poison();
}

bool AttentionData::guards_hold() const {
  return q.guards_hold() && k.guards_hold() && v.guards_hold() && out.guards_hold() && lse.guards_hold() &&
         weights.guards_hold() && scores.guards_hold() && bias_.guards_hold() && keep_.guards_hold() &&
         drop_.guards_hold();
}

}  // namespace attn::test
