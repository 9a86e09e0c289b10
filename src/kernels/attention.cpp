// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/attention_block.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention.cpp"
#include <hwy/foreach_target.h>  // must come before whatever includes highway.h
#include <hwy/highway.h>

#include "kernels/attention_tile-inl.hpp"
#include "kernels/dispatch.hpp"

#ifndef ATTN_KERNELS_ATTENTION_ONCE
#define ATTN_KERNELS_ATTENTION_ONCE
namespace attn::kernels {
namespace {

// A multiple of 4, 6 and 12: full register tiles, and whole calls of the dropout generator.
constexpr std::ptrdiff_t kBlockKeys = 96;
constexpr std::ptrdiff_t kTaskQueries = 256;

// Where everything of a task lies in its scratch. With a null base it only counts bytes.
template <class T>
struct TaskScratch {
  TaskScratch(const AttentionTask& task, std::ptrdiff_t lanes, std::byte* scratch) : base(scratch) {
    const std::ptrdiff_t tiles = (task.queries + lanes - 1) / lanes;
    const std::ptrdiff_t pairs = kBlockKeys * lanes;
    qt = take(tiles * task.dim_qk * lanes);
    o = take(tiles * task.dim_v * lanes);
    max = take(tiles * lanes);
    sum = take(tiles * lanes);
    shrink = take(lanes);
    inverse = take(lanes);
    s = take(pairs);
    hidden = take(pairs);
    bias = take(pairs);
    if (!reads_in_place(task.k)) k = take(kBlockKeys * task.dim_qk);
    if (!reads_in_place(task.v)) v = take(kBlockKeys * task.dim_v);
  }
  static bool reads_in_place(const Matrix& m) { return m.dtype == dtype_of<T> && m.column_stride == 1; }
  T* take(std::ptrdiff_t count) {
    T* at = base == nullptr ? nullptr : reinterpret_cast<T*>(base + bytes);
    bytes += (static_cast<std::size_t>(count) * sizeof(T) + 63) / 64 * 64;
    return at;
  }

  std::byte* base;
  std::size_t bytes = 0;
  T *qt, *o, *max, *sum, *shrink, *inverse, *s, *hidden, *bias;
  T *k = nullptr, *v = nullptr;
};

// Rows of a block of keys or values, in place where they can be read so, else widened into scratch.
template <class T>
struct BlockRows {
  const T* data;
  std::ptrdiff_t stride;
  BlockRows(const Matrix& m, std::ptrdiff_t first, std::ptrdiff_t count, std::ptrdiff_t dim, T* copy) {
    if (copy == nullptr) {
      data = static_cast<const T*>(m.data) + first * m.row_stride;
      stride = m.row_stride;
    } else {
      load_rows(m, first, count, dim, copy);
      data = copy;
      stride = dim;
    }
  }
};

}  // namespace
}  // namespace attn::kernels
#endif  // ATTN_KERNELS_ATTENTION_ONCE

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {

// A task whose tiles are kWide vectors of queries wide.
template <class T, int kWide>
class TaskRun {
  using D = hn::ScalableTag<T>;
  static constexpr std::ptrdiff_t kLanes = kWide * static_cast<std::ptrdiff_t>(hn::MaxLanes(D()));

 public:
  TaskRun(const AttentionTask& task, std::byte* scratch) : task_(task), mem_(task, kLanes, scratch) {}

  void run() {
    const std::ptrdiff_t tiles = (task_.queries + kLanes - 1) / kLanes;
    for (std::ptrdiff_t t = 0; t < tiles; ++t) begin_tile(t);
    const std::int64_t begin = *std::min_element(task_.begin, task_.begin + task_.queries);
    const std::int64_t end = *std::max_element(task_.end, task_.end + task_.queries);
    for (std::ptrdiff_t k0 = begin / kBlockKeys * kBlockKeys; k0 < end; k0 += kBlockKeys) run_block(k0, end, tiles);
    for (std::ptrdiff_t t = 0; t < tiles; ++t) finish_tile(t);
  }

 private:
  PairBlock place_of(std::ptrdiff_t tile, std::ptrdiff_t k0, std::ptrdiff_t keys) const {
    return {.first_query = tile * kLanes,
            .queries = std::min(kLanes, task_.queries - tile * kLanes),
            .first_key = k0,
            .keys = keys,
            .lanes = kLanes};
  }
  T* query_tile(std::ptrdiff_t tile) const { return mem_.qt + tile * task_.dim_qk * kLanes; }
  T* output_tile(std::ptrdiff_t tile) const { return mem_.o + tile * task_.dim_v * kLanes; }

  void begin_tile(std::ptrdiff_t tile) {
    const PairBlock place = place_of(tile, 0, 0);
    load_transposed(task_.q, place.first_query, place.queries, task_.dim_qk, kLanes, static_cast<T>(task_.scale),
                    query_tile(tile));
    std::fill_n(output_tile(tile), task_.dim_v * kLanes, T{0});
    std::fill_n(mem_.max + tile * kLanes, kLanes, -std::numeric_limits<T>::infinity());
    std::fill_n(mem_.sum + tile * kLanes, kLanes, T{0});
  }

  // All tiles against the keys from k0, so that a block is widened once for all of them.
  void run_block(std::ptrdiff_t k0, std::int64_t end, std::ptrdiff_t tiles) {
    const std::ptrdiff_t keys = std::min<std::ptrdiff_t>(kBlockKeys, end - k0);
    const BlockRows<T> k(task_.k, k0, keys, task_.dim_qk, mem_.k);
    const BlockRows<T> v(task_.v, k0, keys, task_.dim_v, mem_.v);
    for (std::ptrdiff_t t = 0; t < tiles; ++t) {
      const PairBlock rows = place_of(t, k0, 0);
      const std::int64_t* row_end = task_.end + rows.first_query;
      const std::int64_t* row_begin = task_.begin + rows.first_query;
      const std::int64_t tile_end = std::min(k0 + keys, *std::max_element(row_end, row_end + rows.queries));
      const std::int64_t tile_begin = *std::min_element(row_begin, row_begin + rows.queries);
      if (tile_end <= k0 || tile_begin >= tile_end) continue;
      const bool is_cut = *std::min_element(row_end, row_end + rows.queries) < tile_end ||
                          *std::max_element(row_begin, row_begin + rows.queries) > k0;
      run_tile_block(t, place_of(t, k0, tile_end - k0), k, v, is_cut || hides_pairs());
    }
  }

  bool hides_pairs() const { return !task_.pair_masks.empty() || !task_.documents.empty() || task_.bias.wanted(); }

  // Finished scores of a block, except for what is hidden.
  void finish_scores(std::ptrdiff_t tile, const PairBlock& place, const BlockRows<T>& k) {
    const D d;
    const std::ptrdiff_t count = place.keys * kLanes;
    qk_block<kWide>(d, k.data, k.stride, place.keys, query_tile(tile), task_.dim_qk, mem_.s);
    if (task_.softcap != 0) softcap_block(d, static_cast<T>(task_.softcap), count, mem_.s);
    if (task_.bias.wanted() || task_.has_alibi) {
      bias_block(task_, place, mem_.bias);
      add_block(d, mem_.bias, count, mem_.s);
    }
  }

  void run_tile_block(std::ptrdiff_t tile, const PairBlock& place, const BlockRows<T>& k, const BlockRows<T>& v,
                      bool hides) {
    const D d;
    finish_scores(tile, place, k);
    bool selects = false;
    if (hides) {
      hidden_block(task_, place, mem_.hidden);
      hide_block(d, mem_.hidden, place.keys * kLanes, mem_.s);
      selects = !all_finite(v.data, v.stride, place.keys, task_.dim_v);
    }
    const bool raised =
        softmax_block<kWide>(d, place.keys, mem_.s, mem_.max + tile * kLanes, mem_.sum + tile * kLanes, mem_.shrink);
    if (raised) scale_rows<kWide>(d, mem_.shrink, task_.dim_v, output_tile(tile));
    if (task_.dropout.rule != nullptr) drop_block(task_, place, mem_.s);
    if (selects) {
      pv_block<kWide, true>(d, v.data, v.stride, place.keys, mem_.s, mem_.hidden, task_.dim_v, output_tile(tile));
    } else {
      pv_block<kWide, false>(d, v.data, v.stride, place.keys, mem_.s, mem_.hidden, task_.dim_v, output_tile(tile));
    }
  }

  // The sink joins the denominator; outputs are divided by it and stored. In an empty row, whose sum is 0, there is
  // nothing to divide, whatever the sink.
  void finish_tile(std::ptrdiff_t tile) {
    const PairBlock place = place_of(tile, 0, 0);
    const T sink = task_.has_sink ? static_cast<T>(task_.sink) : -std::numeric_limits<T>::infinity();
    T* max = mem_.max + tile * kLanes;
    T* sum = mem_.sum + tile * kLanes;
    for (std::ptrdiff_t i = 0; i < kLanes; ++i) {
      T shrink = 0, lse = sink;
      mem_.inverse[i] = 0;
      if (!(sum[i] == 0)) {
        const T top = std::max(max[i], sink);
        shrink = std::exp(max[i] - top);
        sum[i] = sum[i] * shrink + std::exp(sink - top);
        max[i] = top;
        mem_.inverse[i] = T{1} / sum[i];
        lse = top + std::log(sum[i]);
      }
      mem_.shrink[i] = shrink * mem_.inverse[i];
      if (task_.lse != nullptr && i < place.queries) {
        static_cast<T*>(task_.lse)[(place.first_query + i) * task_.lse_stride] = lse;
      }
    }
    if (task_.out.wanted()) {
      store_transposed(output_tile(tile), kLanes, mem_.shrink, task_.out, place.first_query, place.queries,
                       task_.dim_v);
    }
    if (task_.weights.wanted() || task_.scores.wanted()) store_rows(tile);
  }

  // Weights and scores, asked for by few: the scores are computed again, block by block, now that the row's maximum
  // and sum are known.
  void store_rows(std::ptrdiff_t tile) {
    const PairBlock rows = place_of(tile, 0, 0);
    const std::ptrdiff_t last = task_.first_column + task_.keys;
    const double outside = -std::numeric_limits<double>::infinity();
    for (const auto& [begin, end] :
         {std::pair{std::ptrdiff_t{0}, task_.first_column}, std::pair{last, task_.columns}}) {
      if (task_.weights.wanted()) fill_pairs(rows, task_.weights, begin, end, 0);
      if (task_.scores.wanted()) fill_pairs(rows, task_.scores, begin, end, outside);
    }
    for (std::ptrdiff_t k0 = 0; k0 < task_.keys; k0 += kBlockKeys) {
      const PairBlock place = place_of(tile, k0, std::min(kBlockKeys, task_.keys - k0));
      const BlockRows<T> k(task_.k, k0, place.keys, task_.dim_qk, mem_.k);
      store_rows_block(tile, place, k);
    }
  }

  void store_rows_block(std::ptrdiff_t tile, const PairBlock& place, const BlockRows<T>& k) {
    const D d;
    const std::ptrdiff_t count = place.keys * kLanes, column = task_.first_column + place.first_key;
    if (task_.scores.wanted() && task_.score_stage != ScoreStage::masked) {
      qk_block<kWide>(d, k.data, k.stride, place.keys, query_tile(tile), task_.dim_qk, mem_.s);
      if (task_.score_stage == ScoreStage::capped && task_.softcap != 0) {
        softcap_block(d, static_cast<T>(task_.softcap), count, mem_.s);
      }
      store_pairs(mem_.s, place, task_.scores, column);
    }
    finish_scores(tile, place, k);
    hidden_block(task_, place, mem_.hidden);
    hide_block(d, mem_.hidden, count, mem_.s);
    if (task_.scores.wanted() && task_.score_stage == ScoreStage::masked) {
      store_pairs(mem_.s, place, task_.scores, column);
    }
    if (!task_.weights.wanted()) return;
    weights_block<kWide>(d, place.keys, mem_.max + tile * kLanes, mem_.inverse, mem_.hidden, mem_.s);
    store_pairs(mem_.s, place, task_.weights, column);
  }

  const AttentionTask& task_;
  TaskScratch<T> mem_;
};

template <class T>
std::ptrdiff_t vector_lanes() {
  return static_cast<std::ptrdiff_t>(hn::MaxLanes(hn::ScalableTag<T>()));
}

// With no more queries than lanes, one vector a tile: the others would hold padding only.
template <class T>
void run_task(const AttentionTask& task, std::byte* scratch) {
  if (task.queries <= vector_lanes<T>()) {
    TaskRun<T, 1>(task, scratch).run();
  } else {
    TaskRun<T, kVectors>(task, scratch).run();
  }
}

void run_f32(const AttentionTask& task, std::byte* scratch) { run_task<float>(task, scratch); }
void run_f64(const AttentionTask& task, std::byte* scratch) { run_task<double>(task, scratch); }

std::ptrdiff_t tile_queries(DType compute) {
  return kVectors * (compute == DType::f64 ? vector_lanes<double>() : vector_lanes<float>());
}

std::ptrdiff_t tile_queries_of(DType compute, std::ptrdiff_t queries) {
  const std::ptrdiff_t wide = tile_queries(compute);
  return queries <= wide / kVectors ? wide / kVectors : wide;
}

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn::kernels {

HWY_EXPORT(run_f32);
HWY_EXPORT(run_f64);
HWY_EXPORT(tile_queries);
HWY_EXPORT(tile_queries_of);

AttentionTiles attention_tiles(std::int64_t target, DType compute) noexcept {
  const std::ptrdiff_t queries = ATTN_DISPATCH(tile_queries, target)(compute);
  return {.queries = queries, .keys = kBlockKeys, .task_queries = (kTaskQueries + queries - 1) / queries * queries};
}

std::size_t attention_scratch_bytes(std::int64_t target, DType compute, const AttentionTask& task) noexcept {
  const std::ptrdiff_t lanes = ATTN_DISPATCH(tile_queries_of, target)(compute, task.queries);
  if (compute == DType::f64) return TaskScratch<double>(task, lanes, nullptr).bytes;
  return TaskScratch<float>(task, lanes, nullptr).bytes;
}

void attention(std::int64_t target, DType compute, const AttentionTask& task, std::byte* scratch) noexcept {
  if (compute == DType::f64) {
    ATTN_DISPATCH(run_f64, target)(task, scratch);
  } else {
    ATTN_DISPATCH(run_f32, target)(task, scratch);
  }
}

}  // namespace attn::kernels
#endif  // HWY_ONCE
