// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set, by files of attention kernels.
#if defined(ATTN_KERNELS_ATTENTION_RUN_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_KERNELS_ATTENTION_RUN_INL_HPP
#undef ATTN_KERNELS_ATTENTION_RUN_INL_HPP
#else
#define ATTN_KERNELS_ATTENTION_RUN_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/attention_results-inl.hpp"
#include "kernels/attention_task-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr std::ptrdiff_t round_down(std::ptrdiff_t x, std::ptrdiff_t unit) { return x / unit * unit; }
constexpr std::ptrdiff_t round_up(std::ptrdiff_t x, std::ptrdiff_t unit) { return (x + unit - 1) / unit * unit; }

// A task from its queries to its outputs, block by block of keys. How scores and outputs are multiplied, and how many
// keys at once, is `Products`' business: FmaProducts or PairProducts.
template <class Products>
class TaskRun {
  using T = typename Products::T;
  using Tiles = TaskTiles<T>;
  using Span = typename Tiles::Span;
  static constexpr std::ptrdiff_t kLanes = Tiles::kLanes, kGroup = Products::kGroup;

 public:
  TaskRun(const AttentionTask& task, std::byte* scratch)
      : task_(task), tiles_(task, scratch), mem_(tiles_.mem), results_(tiles_), products_(tiles_) {}

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
    products_.load_queries(t);
    begin_sums(t);
    const std::ptrdiff_t first = t * tiles_.lanes, end = first + tiles_.queries_of(t);
    for (std::ptrdiff_t i = first; i < end; i += kLanes) {
      tiles_.span(t, (i - first) / kLanes) = span_of(i, std::min(end, i + kLanes));
    }
  }

  // Of rows first .. last.
  Span span_of(std::ptrdiff_t first, std::ptrdiff_t last) const {
    Span span{task_.begin[first], task_.begin[first], task_.end[first], task_.end[first]};
    for (std::ptrdiff_t i = first + 1; i < last; ++i) {
      span.begin = std::min(span.begin, task_.begin[i]);
      span.all_begin = std::max(span.all_begin, task_.begin[i]);
      span.all_end = std::min(span.all_end, task_.end[i]);
      span.end = std::max(span.end, task_.end[i]);
    }
    return span;
  }

  void begin_sums(std::ptrdiff_t t) {
    const Tile<T> tile = tiles_.tile(t, 0);
    std::fill_n(tile.o, mem_.value_rows * tiles_.lanes, T{0});
    std::fill_n(tile.reference, tiles_.lanes, T{0});
    std::fill_n(tile.limit, tiles_.lanes, -std::numeric_limits<T>::infinity());
    std::fill_n(tile.sum, tiles_.lanes, T{0});
  }

  // Block by block, chunk by chunk.
  void run_keys() {
    const Span seen = span_of(0, task_.queries);
    const std::int64_t begin = std::max<std::int64_t>(seen.begin, task_.key_begin);
    const std::int64_t end = std::min<std::int64_t>(seen.end, task_.key_end);
    int chunks = 0;  // done before this one
    const std::ptrdiff_t block = mem_.block_keys;
    for (std::ptrdiff_t k0 = begin - (begin - task_.key_begin) % block; k0 < end; k0 += block) {
      const std::ptrdiff_t keys = std::min<std::ptrdiff_t>(block, end - k0);
      // All tiles against the keys from k0, so that a block is widened once for all of them.
      products_.load_block(k0, keys, end);
      for (std::ptrdiff_t t = 0; t < mem_.tiles; ++t) {
        if (k0 + block >= end) results_.prefetch_output(t);
        run_tile_block(t, k0, keys);
      }
      const std::ptrdiff_t next = k0 + block;
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

  // In strips of keys, each without the leading vectors of queries that see no more keys: under a causal mask the
  // block's work is that of the triangle.
  void run_tile_block(std::ptrdiff_t t, std::ptrdiff_t k0, std::ptrdiff_t keys) {
    const std::ptrdiff_t vectors = tiles_.vectors_of(t), most = products_.strip_keys();
    std::int64_t begin = tiles_.span(t, 0).begin;
    for (std::ptrdiff_t w = 1; w < vectors; ++w) begin = std::min(begin, tiles_.span(t, w).begin);
    std::ptrdiff_t from = round_down(std::max<std::int64_t>(begin - k0, 0), kGroup);
    for (std::ptrdiff_t w = 0; w < vectors; ++w) {
      std::ptrdiff_t to = std::min<std::int64_t>(tiles_.span(t, w).end - k0, keys);
      if (w + 1 < vectors) to = std::min(round_up(std::max<std::ptrdiff_t>(to, 0), kGroup), keys);
      if (to <= from) continue;
      while (from < to) {
        const std::ptrdiff_t part = std::min(from + most, to);
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
    constexpr std::ptrdiff_t kStep = Products::template kStep<kWide>;
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
    run_steps<kWide>(s, s.from, plain);
    if (plain < plain_end) products_.template weights<kWide, false>(s, plain, plain_end, {});
    run_steps<kWide>(s, plain_end, s.to);
    const bool hides = plain > s.from || plain_end < s.to;
    products_.template add_values<kWide>(s, hides);
  }

  template <int kWide>
  void run_steps(const Strip& s, std::ptrdiff_t from, std::ptrdiff_t to) {
    if (from == to) return;
    Strip part = s;
    part.from = from;
    part.to = to;
    ScoreSteps<T> steps = tiles_.steps(part, kLog2e);
    if (hides_some(part)) tiles_.load_visible(part, round_up(to, kGroup), false, steps);
    products_.template weights<kWide, true>(s, from, to, steps);
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

  const AttentionTask& task_;
  const Tiles tiles_;
  const TaskScratch<T>& mem_;
  const TileResults<T> results_;
  Products products_;
};

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
