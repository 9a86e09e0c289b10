// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/attention_block.hpp"
#include "kernels/attention_scratch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention.cpp"
#include <hwy/foreach_target.h>  // must come before whatever includes highway.h
#include <hwy/highway.h>

#include "kernels/attention_dropout-inl.hpp"
#include "kernels/attention_results-inl.hpp"
#include "kernels/attention_task-inl.hpp"
#include "kernels/attention_tile-inl.hpp"
#include "kernels/attention_values-inl.hpp"
#include "kernels/dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {

constexpr std::ptrdiff_t round_down(std::ptrdiff_t x, std::ptrdiff_t unit) { return x / unit * unit; }
constexpr std::ptrdiff_t round_up(std::ptrdiff_t x, std::ptrdiff_t unit) { return (x + unit - 1) / unit * unit; }

// A narrow tile's values are added so many keys at a time, so that they are still in the first cache; a multiple of
// what weights_of_keys takes at once.
constexpr std::ptrdiff_t kNarrowKeys = 24;

template <class T>
class TaskRun {
  using Tiles = TaskTiles<T>;
  using D = typename Tiles::D;
  using Span = typename Tiles::Span;
  static constexpr std::ptrdiff_t kLanes = Tiles::kLanes;

 public:
  TaskRun(const AttentionTask& task, std::byte* scratch)
      : task_(task), tiles_(task, scratch), mem_(tiles_.mem), results_(tiles_) {}

  void run() {
    for (std::ptrdiff_t t = 0; t < mem_.tiles; ++t) begin_tile(t);
    run_keys();
    for (std::ptrdiff_t t = 0; t < mem_.tiles; ++t) {
      if (task_.partial == nullptr) {
        results_.finish(t);
      } else {
        results_.store_partial(t);
      }
    }
  }

  void merge(const T* partials, std::ptrdiff_t count) {
    for (std::ptrdiff_t t = 0; t < mem_.tiles; ++t) {
      begin_tile(t);
      results_.merge(t, partials, count);
      results_.finish(t);
    }
  }

 private:
  void begin_tile(std::ptrdiff_t t) {
    tiles_.load_queries(t, static_cast<T>(task_.scale * (task_.softcap == 0 ? kLog2e : 1)));
    begin_sums(t);
    const std::ptrdiff_t first = t * tiles_.lanes, end = first + tiles_.queries_of(t);
    for (std::ptrdiff_t i = first; i < end; i += kLanes) {
      const auto [begin_low, begin_high] =
          std::minmax_element(task_.begin + i, task_.begin + std::min(end, i + kLanes));
      const auto [end_low, end_high] = std::minmax_element(task_.end + i, task_.end + std::min(end, i + kLanes));
      tiles_.span(t, (i - first) / kLanes) = {
          .begin = *begin_low, .all_begin = *begin_high, .all_end = *end_low, .end = *end_high};
    }
  }

  void begin_sums(std::ptrdiff_t t) {
    const Tile<T> tile = tiles_.tile(t, 0);
    std::fill_n(tile.o, task_.dim_v * tiles_.lanes, T{0});
    std::fill_n(tile.reference, tiles_.lanes, T{0});
    std::fill_n(tile.limit, tiles_.lanes, -std::numeric_limits<T>::infinity());
    std::fill_n(tile.sum, tiles_.lanes, T{0});
  }

  // Block by block, chunk by chunk.
  void run_keys() {
    const std::int64_t first = *std::min_element(task_.begin, task_.begin + task_.queries);
    const std::int64_t last = *std::max_element(task_.end, task_.end + task_.queries);
    const std::int64_t begin = std::max<std::int64_t>(first, task_.key_begin);
    const std::int64_t end = std::min<std::int64_t>(last, task_.key_end);
    int chunks = 0;  // done before this one
    for (std::ptrdiff_t k0 = round_down(begin, kBlockKeys); k0 < end; k0 += kBlockKeys) {
      run_block(k0, end);
      const std::ptrdiff_t next = k0 + kBlockKeys;
      if (next >= end || next % kChunkKeys != 0) continue;
      for (std::ptrdiff_t t = 0; t < mem_.tiles; ++t) {
        results_.add_to_total(t, chunks == 0);
        begin_sums(t);
      }
      ++chunks;
    }
    if (chunks == 0) return;
    for (std::ptrdiff_t t = 0; t < mem_.tiles; ++t) {
      results_.add_to_total(t, false);
      results_.take_total(t);
    }
  }

  // All tiles against the keys from k0, so that a block is widened once for all of them.
  void run_block(std::ptrdiff_t k0, std::int64_t end) {
    const std::ptrdiff_t keys = std::min<std::ptrdiff_t>(kBlockKeys, end - k0);
    k_ = tiles_.keys(k0, keys);
    v_ = tiles_.values(k0, keys);
    v_is_finite_ = Finite::unknown;
    prefetch_block(k0, end);
    for (std::ptrdiff_t t = 0; t < mem_.tiles; ++t) run_tile_block(t, k0, keys);
  }

  // The next block is asked for while the first tile works on this one. A single narrow tile has too little to do in a
  // block for that: it asks for the values of the keys it is at, and for the keys that follow them.
  void prefetch_block(std::ptrdiff_t k0, std::int64_t end) {
    next_ = {};
    const bool few = is_narrow();
    const std::ptrdiff_t k1 = k0 + (few ? kNarrowKeys : kBlockKeys), v1 = few ? k0 : k1;
    if (k1 < end && mem_.k == nullptr) next_.k = tiles_.keys(k1, std::min<std::ptrdiff_t>(kBlockKeys, end - k1));
    if (v1 < end && mem_.v == nullptr) next_.v = tiles_.values(v1, std::min<std::ptrdiff_t>(kBlockKeys, end - v1));
  }
  bool is_narrow() const { return mem_.tiles == 1 && tiles_.lanes == kLanes && mem_.k == nullptr; }

  // In strips of keys, each without the leading vectors of queries that see no more keys: under a causal mask the
  // block's work is that of the triangle.
  void run_tile_block(std::ptrdiff_t t, std::ptrdiff_t k0, std::ptrdiff_t keys) {
    const std::ptrdiff_t vectors = tiles_.vectors_of(t);
    std::int64_t begin = tiles_.span(t, 0).begin;
    for (std::ptrdiff_t w = 1; w < vectors; ++w) begin = std::min(begin, tiles_.span(t, w).begin);
    std::ptrdiff_t from = round_down(std::max<std::int64_t>(begin - k0, 0), kGroup);
    for (std::ptrdiff_t w = 0; w < vectors; ++w) {
      std::ptrdiff_t to = std::min<std::int64_t>(tiles_.span(t, w).end - k0, keys);
      if (w + 1 < vectors) to = std::min(round_up(std::max<std::ptrdiff_t>(to, 0), kGroup), keys);
      if (to <= from) continue;
      while (from < to) {
        const std::ptrdiff_t part = is_narrow() ? std::min(from + kNarrowKeys, to) : to;
        run_width<kVectors>({.tile = t, .first = w, .end = vectors, .k0 = k0, .from = from, .to = part});
        from = part;
      }
    }
  }

  template <int kWide>
  void run_width(const Strip& s) {
    if (s.end - s.first == kWide) {
      run_strip<kWide>(s);
    } else if constexpr (kWide > 1) {
      run_width<kWide - 1>(s);
    }
  }

  // The keys that every query of the strip sees need no steps; those before and after do.
  template <int kWide>
  void run_strip(const Strip& s) {
    const D d;
    const Tile<T> tile = tiles_.tile(s.tile, s.first);
    constexpr std::ptrdiff_t kStep = kGroup * kGroupsAtOnce<kWide>;
    std::ptrdiff_t plain = s.from, plain_end = s.from;
    if (!has_steps()) {
      std::int64_t all_begin = 0, all_end = std::numeric_limits<std::int64_t>::max();
      for (std::ptrdiff_t w = s.first; w < s.end; ++w) {
        all_begin = std::max(all_begin, tiles_.span(s.tile, w).all_begin);
        all_end = std::min(all_end, tiles_.span(s.tile, w).all_end);
      }
      plain = std::min(round_up(std::max<std::int64_t>(all_begin - s.k0, s.from), kGroup), s.to);
      const std::ptrdiff_t last = std::min<std::int64_t>(all_end - s.k0, s.to);
      plain_end = last > plain ? plain + round_down(last - plain, kStep) : plain;
    }
    run_steps<kWide>(s, tile, s.from, plain);
    if (plain < plain_end) weights_of_keys<kWide, false>(d, k_, s.from, plain, plain_end, tile, {}, next_);
    run_steps<kWide>(s, tile, plain_end, s.to);
    if (!is_narrow()) next_ = {};
    const bool hides = plain > s.from || plain_end < s.to;
    if (task_.dropout.rule != nullptr) drop(s);
    if (hides && !v_is_finite()) {
      ScoreSteps<T> steps;
      tiles_.load_visible(s, s.to, true, steps);
      add_values_of_keys<kWide, true>(d, v_, s.from, s.to, tile, steps);
    } else {
      add_values_of_keys<kWide, false>(d, v_, s.from, s.to, tile, {});
    }
  }

  template <int kWide>
  void run_steps(const Strip& s, const Tile<T>& tile, std::ptrdiff_t from, std::ptrdiff_t to) {
    if (from == to) return;
    Strip part = s;
    part.from = from;
    part.to = to;
    ScoreSteps<T> steps = tiles_.steps(part, kLog2e);
    if (hides_some(part)) tiles_.load_visible(part, round_up(to, kGroup), false, steps);
    weights_of_keys<kWide, true>(D(), k_, s.from, from, to, tile, steps, next_);
  }

  // Whether a pair of the strip is hidden, the keys that fill its last group among them.
  bool hides_some(const Strip& s) const {
    if (hides_pairs(task_) || s.to % kGroup != 0) return true;
    for (std::ptrdiff_t w = s.first; w < s.end; ++w) {
      const Span& span = tiles_.span(s.tile, w);
      if (span.all_begin > s.k0 + s.from || span.all_end < s.k0 + s.to) return true;
    }
    return false;
  }

  bool has_steps() const {
    return hides_pairs(task_) || task_.bias.wanted() || task_.alibi_slopes != nullptr || task_.softcap != 0;
  }

  void drop(const Strip& s) {
    PairBlock block = tiles_.pairs(s, s.from, s.to);
    block.lanes = tiles_.lanes;
    drop_weights(D(), task_, block, mem_.p + s.from * tiles_.lanes + s.first * kLanes);
  }

  bool v_is_finite() {
    if (v_is_finite_ == Finite::unknown) {
      v_is_finite_ = all_finite(D(), v_.data, v_.stride, v_.count, task_.dim_v) ? Finite::yes : Finite::no;
    }
    return v_is_finite_ == Finite::yes;
  }

  enum class Finite { unknown, no, yes };
  const AttentionTask& task_;
  const Tiles tiles_;
  const TaskScratch<T>& mem_;
  const TileResults<T> results_;
  Rows<T> k_ = {}, v_ = {};
  NextBlock<T> next_ = {};
  Finite v_is_finite_ = Finite::unknown;
};

void run_f32(const AttentionTask& task, std::byte* scratch) { TaskRun<float>(task, scratch).run(); }
void run_f64(const AttentionTask& task, std::byte* scratch) { TaskRun<double>(task, scratch).run(); }

void merge_f32(const AttentionTask& task, const void* partials, std::ptrdiff_t count, std::byte* scratch) {
  TaskRun<float>(task, scratch).merge(static_cast<const float*>(partials), count);
}
void merge_f64(const AttentionTask& task, const void* partials, std::ptrdiff_t count, std::byte* scratch) {
  TaskRun<double>(task, scratch).merge(static_cast<const double*>(partials), count);
}

std::size_t scratch_bytes(DType compute, const AttentionTask& task) {
  return compute == DType::f64 ? TaskTiles<double>(task, nullptr).mem.bytes : TaskTiles<float>(task, nullptr).mem.bytes;
}

std::ptrdiff_t tile_queries(DType compute) {
  return kVectors * (compute == DType::f64 ? TaskTiles<double>::kLanes : TaskTiles<float>::kLanes);
}

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn::kernels {

HWY_EXPORT(run_f32);
HWY_EXPORT(run_f64);
HWY_EXPORT(merge_f32);
HWY_EXPORT(merge_f64);
HWY_EXPORT(scratch_bytes);
HWY_EXPORT(tile_queries);

AttentionTiles attention_tiles(std::int64_t target, DType compute, std::ptrdiff_t dim) noexcept {
  const std::ptrdiff_t queries = ATTN_DISPATCH(tile_queries, target)(compute);
  // Wider heads have more to gain from sharing a block of keys and values among more queries.
  const std::ptrdiff_t task_queries = dim >= 128 ? 512 : 256;
  return {.queries = queries, .keys = kBlockKeys, .task_queries = (task_queries + queries - 1) / queries * queries};
}

std::size_t attention_scratch_bytes(std::int64_t target, DType compute, const AttentionTask& task) noexcept {
  return ATTN_DISPATCH(scratch_bytes, target)(compute, task);
}

void attention(std::int64_t target, DType compute, const AttentionTask& task, std::byte* scratch) noexcept {
  if (compute == DType::f64) {
    ATTN_DISPATCH(run_f64, target)(task, scratch);
  } else {
    ATTN_DISPATCH(run_f32, target)(task, scratch);
  }
}

void merge_attention(std::int64_t target, DType compute, const AttentionTask& task, const void* partials,
                     std::ptrdiff_t count, std::byte* scratch) noexcept {
  if (compute == DType::f64) {
    ATTN_DISPATCH(merge_f64, target)(task, partials, count, scratch);
  } else {
    ATTN_DISPATCH(merge_f32, target)(task, partials, count, scratch);
  }
}

}  // namespace attn::kernels
#endif  // HWY_ONCE
