// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set, by kernels/attention.cpp.
#if defined(ATTN_KERNELS_ATTENTION_TASK_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_KERNELS_ATTENTION_TASK_INL_HPP
#undef ATTN_KERNELS_ATTENTION_TASK_INL_HPP
#else
#define ATTN_KERNELS_ATTENTION_TASK_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/attention_block.hpp"
#include "kernels/attention_scratch.hpp"
#include "kernels/attention_tile-inl.hpp"
#include "kernels/rows-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr double kLog2e = 1.4426950408889634074, kLn2 = 0.69314718055994530942;

// Vectors first .. end of a tile, and keys from .. to of a block that starts at key k0 of the sequence.
struct Strip {
  std::ptrdiff_t tile, first, end;
  std::ptrdiff_t k0, from, to;
};

// A task and its memory: tiles of `lanes` queries.
template <class T>
class TaskTiles {
 public:
  using D = hn::ScalableTag<T>;
  static constexpr std::ptrdiff_t kLanes = hn::MaxLanes(D()), kMostLanes = kVectors * kLanes;  // of a vector, a tile
  using Span = typename TaskScratch<T>::VectorSpan;

  // No wider than the queries need: further vectors would hold padding only.
  static std::ptrdiff_t width_for(std::ptrdiff_t queries) {
    return std::min<std::ptrdiff_t>(kVectors, (queries + kLanes - 1) / kLanes) * kLanes;
  }

  TaskTiles(const AttentionTask& whole, std::byte* scratch)
      : task(whole), lanes(width_for(whole.queries)), mem(whole, lanes, kLanes, scratch) {}

  std::ptrdiff_t queries_of(std::ptrdiff_t tile) const { return std::min(lanes, task.queries - tile * lanes); }
  std::ptrdiff_t vectors_of(std::ptrdiff_t tile) const { return (queries_of(tile) + kLanes - 1) / kLanes; }
  Span& span(std::ptrdiff_t tile, std::ptrdiff_t vector) const { return mem.vectors[tile * lanes / kLanes + vector]; }

  // The tile's rows from `vector` on.
  Tile<T> tile(std::ptrdiff_t t, std::ptrdiff_t vector) const {
    const std::ptrdiff_t lane = vector * kLanes, row = t * lanes + lane;
    return {.lanes = lanes,
            .dim_qk = task.dim_qk,
            .dim_v = mem.value_rows,
            .q = mem.q == nullptr ? nullptr : mem.q + t * lanes * task.dim_qk + lane,
            .p = mem.p + lane,
            .o = mem.o + t * lanes * mem.value_rows + lane,
            .reference = mem.reference + row,
            .limit = mem.limit + row,
            .sum = mem.sum + row,
            .factor = mem.factor + lane};
  }

  typename TaskScratch<T>::Total total(std::ptrdiff_t t) const {
    const std::ptrdiff_t row = t * lanes;
    return {
        .o = mem.total.o + row * mem.value_rows, .reference = mem.total.reference + row, .sum = mem.total.sum + row};
  }

  PairBlock pairs(const Strip& s, std::ptrdiff_t from, std::ptrdiff_t to) const {
    const std::ptrdiff_t lane = s.first * kLanes;
    return {.first_query = s.tile * lanes + lane,
            .queries = queries_of(s.tile) - lane,
            .first_key = s.k0 + from,
            .keys = to - from,
            .lanes = (s.end - s.first) * kLanes};
  }

  void load_queries(std::ptrdiff_t t, T factor) const {
    load_tile(D(), task.q, t * lanes, queries_of(t), 0, task.dim_qk, factor, lanes, lanes, mem.spare,
              mem.q + t * lanes * task.dim_qk);
  }

  // Keys from .. to of the block at k0, in place where they can be read so, else widened into scratch.
  Rows<T> block_rows(const Matrix& m, std::ptrdiff_t k0, std::ptrdiff_t count, std::ptrdiff_t dim, T* copy) const {
    if (copy == nullptr) return {.data = element_of<T>(m, k0, 0), .stride = m.row_stride, .count = count};
    for (std::ptrdiff_t r = 0; r < count; ++r) load_row(D(), m, k0 + r, 0, dim, copy + r * dim);
    return {.data = copy, .stride = dim, .count = count};
  }
  Rows<T> keys(std::ptrdiff_t k0, std::ptrdiff_t count) const {
    return block_rows(task.k, k0, count, task.dim_qk, mem.k);
  }
  Rows<T> values(std::ptrdiff_t k0, std::ptrdiff_t count) const {
    return block_rows(task.v, k0, count, task.dim_v, mem.v);
  }

  // What happens to the scores of a strip of keys, whose results are in units of `unit`: bias and soft-cap in place,
  // ALiBi by where the queries stand.
  ScoreSteps<T> steps(const Strip& s, double unit) const {
    ScoreSteps<T> steps{.softcap = static_cast<T>(task.softcap), .unit = static_cast<T>(unit)};
    const PairBlock block = pairs(s, s.from, s.to);
    if (task.bias.wanted()) {
      load_tile(D(), task.bias, block.first_query, block.queries, block.first_key, block.keys, static_cast<T>(unit),
                lanes, block.lanes, mem.spare, mem.bias + s.from * lanes + s.first * kLanes);
      steps.bias = mem.bias + s.first * kLanes;
    }
    if (task.alibi_slopes != nullptr) {
      T *position = mem.position + s.first * kLanes, *slope = mem.slope + s.first * kLanes;
      for (std::ptrdiff_t i = 0; i < block.lanes; ++i) {
        const std::ptrdiff_t row = block.first_query + std::min(i, block.queries - 1);
        position[i] = static_cast<T>(task.position[row] - s.k0);
        slope[i] = static_cast<T>(task.alibi_slopes[task.head_of(row)] * unit);
      }
      steps.slope = slope;
      steps.position = position;
    }
    return steps;
  }

  // Which pairs of a strip are visible, in keys s.from .. to; keys at or beyond the strip's end are not.
  void load_visible(const Strip& s, std::ptrdiff_t to, bool with_bias, ScoreSteps<T>& steps) const {
    const PairBlock block = pairs(s, s.from, std::min(to, s.to));
    const PairBits bits{
        .data = mem.visible + s.from * mask_bytes<D>(), .plane_bytes = mem.plane_bytes, .vector_lanes = kLanes};
    steps.hiding = 0;
    for (std::ptrdiff_t w = 0; w < s.end - s.first; ++w) {
      std::uint8_t* plane = bits.data + w * bits.plane_bytes;
      const Span& seen = span(s.tile, s.first + w);
      if (seen.all_begin <= s.k0 + s.from && seen.all_end >= s.k0 + s.to) {
        std::fill_n(plane, block.keys * mask_bytes<D>(), std::uint8_t{0xff});
        std::fill_n(plane + block.keys * mask_bytes<D>(), (to - s.from - block.keys) * mask_bytes<D>(),
                    std::uint8_t{0});
      } else {
        load_intervals(s, w, to, plane);
        steps.hiding |= 1u << w;
      }
    }
    if (to > s.to || hides_pairs(task) || (with_bias && task.bias.wanted())) steps.hiding = ~0u;
    hide_by_masks(task, block, bits);
    if (with_bias && task.bias.wanted()) hide_by_bias(task, block, bits);
    steps.visible = mem.visible;
    steps.plane_bytes = mem.plane_bytes;
  }

  const AttentionTask& task;
  const std::ptrdiff_t lanes;
  TaskScratch<T> mem;

 private:
  // Keys s.from .. to within each row's interval, of the strip's vector w.
  void load_intervals(const Strip& s, std::ptrdiff_t w, std::ptrdiff_t to, std::uint8_t* plane) const {
    const D d;
    T begin[kLanes], end[kLanes];
    for (std::ptrdiff_t i = 0; i < kLanes; ++i) {
      const std::ptrdiff_t lane = std::min((s.first + w) * kLanes + i, queries_of(s.tile) - 1),
                           row = s.tile * lanes + lane;
      begin[i] = static_cast<T>(std::clamp<std::int64_t>(task.begin[row] - s.k0, 0, s.to));
      end[i] = static_cast<T>(std::clamp<std::int64_t>(task.end[row] - s.k0, 0, s.to));
    }
    const hn::Vec<D> b = hn::LoadU(d, begin), e = hn::LoadU(d, end);
    for (std::ptrdiff_t j = s.from; j < to; ++j, plane += mask_bytes<D>()) {
      const hn::Vec<D> key = hn::Set(d, static_cast<T>(j));
      std::uint8_t eight[8];
      hn::StoreMaskBits(d, hn::And(hn::Ge(key, b), hn::Lt(key, e)), eight);
      std::copy_n(eight, mask_bytes<D>(), plane);
    }
  }
};

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
