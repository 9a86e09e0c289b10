// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set, by kernels/attention.cpp.
#if defined(ATTN_KERNELS_ATTENTION_RESULTS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_KERNELS_ATTENTION_RESULTS_INL_HPP
#undef ATTN_KERNELS_ATTENTION_RESULTS_INL_HPP
#else
#define ATTN_KERNELS_ATTENTION_RESULTS_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/attention_pairs-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {

// What becomes of a tile when all its keys are done: the caller's outputs, or a partial result for a later merge.
template <class T>
class TileResults {
  using Tiles = TaskTiles<T>;
  using D = typename Tiles::D;

 public:
  explicit TileResults(const Tiles& tiles) : tiles_(tiles), task_(tiles.task) {}

  void store_partial(std::ptrdiff_t t) const {
    const Tile<T> tile = tiles_.tile(t, 0);
    const std::ptrdiff_t first = t * tiles_.lanes, queries = tiles_.queries_of(t);
    T* out = static_cast<T*>(task_.partial);
    T* reference = out + task_.queries * task_.dim_v;
    std::fill_n(tile.factor, tiles_.lanes, T{1});
    store_tile(D(), tile.o, tiles_.lanes, tile.factor,
               {.dtype = dtype_of<T>, .data = out, .row_stride = task_.dim_v, .column_stride = 1}, first, queries,
               task_.dim_v, tiles_.mem.spare);
    std::copy_n(tile.reference, queries, reference + first);
    std::copy_n(tile.sum, queries, reference + task_.queries + first);
  }

  // Parts without a visible key, whose sum is 0, have no reference.
  void merge(std::ptrdiff_t t, const T* partials, std::ptrdiff_t count) const {
    const Tile<T> tile = tiles_.tile(t, 0);
    const std::ptrdiff_t size = partial_size(task_.queries, task_.dim_v);
    for (std::ptrdiff_t i = 0; i < tiles_.queries_of(t); ++i) {
      const std::ptrdiff_t row = t * tiles_.lanes + i, at = task_.queries * task_.dim_v + row;
      T top = -std::numeric_limits<T>::infinity();
      for (std::ptrdiff_t c = 0; c < count; ++c) {
        if (partials[c * size + at + task_.queries] != 0) top = std::max(top, partials[c * size + at]);
      }
      for (std::ptrdiff_t c = 0; c < count; ++c) {
        const T* part = partials + c * size;
        if (part[at + task_.queries] == 0) continue;
        const T shrink = std::exp2(part[at] - top);
        tile.sum[i] += part[at + task_.queries] * shrink;
        for (std::ptrdiff_t d = 0; d < task_.dim_v; ++d) {
          tile.o[d * tiles_.lanes + i] += part[row * task_.dim_v + d] * shrink;
        }
        tile.reference[i] = top;
      }
    }
  }

  // The sink joins the denominator; outputs are divided by it and stored. In an empty row, whose sum is 0, there is
  // nothing to divide, whatever the sink.
  void finish(std::ptrdiff_t t) const {
    const Tile<T> tile = tiles_.tile(t, 0);
    const std::ptrdiff_t first = t * tiles_.lanes, queries = tiles_.queries_of(t);
    for (std::ptrdiff_t i = 0; i < tiles_.lanes; ++i) {
      const std::ptrdiff_t row = first + std::min(i, queries - 1);
      const double sum = static_cast<double>(tile.sum[i]), reference = static_cast<double>(tile.reference[i]);
      double lse = -std::numeric_limits<double>::infinity();
      if (task_.sinks != nullptr) lse = task_.sinks[task_.head_of(row)] * kLog2e;
      tile.factor[i] = 0;
      if (sum != 0) {
        tile.factor[i] = T{1} / tile.sum[i];
        if (task_.sinks != nullptr) {
          const double top = std::max(reference, lse), share = std::exp2(reference - top);
          const double all = sum * share + std::exp2(lse - top);
          tile.factor[i] = static_cast<T>(share / all);
          lse = top + std::log2(all);
        } else if (task_.lse.wanted()) {
          lse = reference + std::log2(sum);
        }
      }
      if (task_.lse.wanted() && i < queries) {
        static_cast<T*>(task_.lse.data)[task_.lse.at_row(row)] = static_cast<T>(lse * kLn2);
      }
    }
    if (task_.out.wanted()) {
      store_tile(D(), tile.o, tiles_.lanes, tile.factor, task_.out, first, queries, task_.dim_v, tiles_.mem.spare);
    }
    if (task_.weights.wanted() || task_.scores.wanted()) PairOutputs<T>(tiles_, t).store();
  }

 private:
  const Tiles& tiles_;
  const AttentionTask& task_;
};

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
