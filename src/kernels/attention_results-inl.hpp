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
  explicit TileResults(const Tiles& tiles) : tiles_(tiles), task_(tiles.task), rows_(tiles.mem.value_rows) {}

  void store_partial(std::ptrdiff_t t) const {
    const Tile<T> tile = tiles_.tile(t, 0);
    const std::ptrdiff_t first = t * tiles_.lanes, queries = tiles_.queries_of(t);
    T* out = static_cast<T*>(task_.partial);
    T* reference = out + task_.queries * rows_;
    std::fill_n(tile.factor, tiles_.lanes, T{1});
    store_tile(D(), tile.o, tiles_.lanes, tile.factor,
               {.dtype = dtype_of<T>, .data = out, .row_stride = rows_, .column_stride = 1}, first, queries, rows_,
               tiles_.mem.spare);
    std::copy_n(tile.reference, queries, reference + first);
    std::copy_n(tile.sum, queries, reference + task_.queries + first);
  }

  // Takes what the tile has into the total of its chunks, which the first one makes. A chunk without a visible key,
  // whose sum is 0, has no reference and adds nothing.
  void add_to_total(std::ptrdiff_t t, bool is_first) const {
    const Tile<T> tile = tiles_.tile(t, 0);
    const auto total = tiles_.total(t);
    if (is_first) return copy(tile.o, tile.reference, tile.sum, total.o, total.reference, total.sum);
    T keep[Tiles::kMostLanes], share[Tiles::kMostLanes];
    for (std::ptrdiff_t i = 0; i < tiles_.lanes; ++i) {
      keep[i] = share[i] = 1;
      if (tile.sum[i] == 0) {
        share[i] = 0;
      } else if (total.sum[i] == 0) {
        keep[i] = 0;
        total.reference[i] = tile.reference[i];
      } else {
        const T top = std::max(total.reference[i], tile.reference[i]);
        keep[i] = std::exp2(total.reference[i] - top);
        share[i] = std::exp2(tile.reference[i] - top);
        total.reference[i] = top;
      }
    }
    add_shares(tile.sum, share, 1, total.sum, keep);
    add_shares(tile.o, share, rows_, total.o, keep);
  }

  void take_total(std::ptrdiff_t t) const {
    const Tile<T> tile = tiles_.tile(t, 0);
    const auto total = tiles_.total(t);
    copy(total.o, total.reference, total.sum, tile.o, tile.reference, tile.sum);
  }

  // Parts without a visible key, whose sum is 0, have no reference.
  void merge(std::ptrdiff_t t, const T* partials, std::ptrdiff_t count) const {
    const Tile<T> tile = tiles_.tile(t, 0);
    const std::ptrdiff_t size = partial_size(task_.queries, rows_);
    for (std::ptrdiff_t i = 0; i < tiles_.queries_of(t); ++i) {
      const std::ptrdiff_t row = t * tiles_.lanes + i, at = task_.queries * rows_ + row;
      T top = -std::numeric_limits<T>::infinity();
      for (std::ptrdiff_t c = 0; c < count; ++c) {
        if (partials[c * size + at + task_.queries] != 0) top = std::max(top, partials[c * size + at]);
      }
      for (std::ptrdiff_t c = 0; c < count; ++c) {
        const T* part = partials + c * size;
        if (part[at + task_.queries] == 0) continue;
        const T shrink = std::exp2(part[at] - top);
        tile.sum[i] += part[at + task_.queries] * shrink;
        for (std::ptrdiff_t d = 0; d < rows_; ++d) {
          tile.o[d * tiles_.lanes + i] += part[row * rows_ + d] * shrink;
        }
        tile.reference[i] = top;
      }
    }
  }

  // Asks for the lines that finish() will write, so that it need not wait for them.
  void prefetch_output(std::ptrdiff_t t) const {
    const std::ptrdiff_t bytes = static_cast<std::ptrdiff_t>(size_of(task_.out.dtype));
    if (task_.partial != nullptr || !task_.out.wanted() || task_.out.column_stride != 1) return;
    const std::ptrdiff_t first = t * tiles_.lanes, end = first + tiles_.queries_of(t);
    for (std::ptrdiff_t row = first; row < end; ++row) {
      const char* at = static_cast<const char*>(task_.out.data) + task_.out.at_row(row) * bytes;
      for (std::ptrdiff_t i = 0; i < task_.dim_v * bytes; i += 64) prefetch(at + i);
    }
  }

  // The sink joins the denominator; outputs are divided by it and stored. In an empty row, whose sum is 0, there is
  // nothing to divide, whatever the sink.
  void finish(std::ptrdiff_t t) const {
    const Tile<T> tile = tiles_.tile(t, 0);
    const std::ptrdiff_t first = t * tiles_.lanes, queries = tiles_.queries_of(t);
    for (std::ptrdiff_t i = 0; i < tiles_.lanes; ++i) tile.factor[i] = tile.sum[i] == 0 ? T{0} : T{1} / tile.sum[i];
    if (task_.sinks != nullptr || task_.lse.wanted()) {
      for (std::ptrdiff_t i = 0; i < queries; ++i) finish_row(tile, i, first + i);
    }
    // Before the output, which may take the place of the queries.
    if (task_.weights.wanted() || task_.scores.wanted()) PairOutputs<T>(tiles_, t).store();
    if (task_.out.wanted()) {
      if (task_.bf16 != base::Bf16Products::widened) divide_by_rounded_sum(tile);
      store_tile(D(), tile.o, tiles_.lanes, tile.factor, task_.out, first, queries, task_.dim_v, tiles_.mem.spare);
    }
  }

 private:
  // Lane i of a tile: its sink joins the denominator, and its lse is stored.
  void finish_row(const Tile<T>& tile, std::ptrdiff_t i, std::ptrdiff_t row) const {
    const double sum = static_cast<double>(tile.sum[i]), reference = static_cast<double>(tile.reference[i]);
    double lse = -std::numeric_limits<double>::infinity();
    if (task_.sinks != nullptr) lse = task_.sinks[task_.head_of(row)] * kLog2e;
    if (sum != 0) {
      if (task_.sinks != nullptr) {
        const double top = std::max(reference, lse), share = std::exp2(reference - top);
        const double all = sum * share + std::exp2(lse - top);
        tile.factor[i] = static_cast<T>(share / all);
        lse = top + std::log2(all);
      } else {
        lse = reference + std::log2(sum);
      }
    }
    if (task_.lse.wanted()) static_cast<T*>(task_.lse.data)[task_.lse.at_row(row)] = static_cast<T>(lse * kLn2);
  }

  // What the values were multiplied by adds up to the last row of o, and not quite to the sum.
  void divide_by_rounded_sum(const Tile<T>& tile) const {
    const T* rounded = tile.o + (rows_ - 1) * tiles_.lanes;
    for (std::ptrdiff_t i = 0; i < tiles_.lanes; ++i) {
      if (tile.sum[i] != 0) tile.factor[i] *= tile.sum[i] / rounded[i];
    }
  }

  void copy(const T* o, const T* reference, const T* sum, T* to_o, T* to_reference, T* to_sum) const {
    std::copy_n(o, rows_ * tiles_.lanes, to_o);
    std::copy_n(reference, tiles_.lanes, to_reference);
    std::copy_n(sum, tiles_.lanes, to_sum);
  }

  // to = to * keep + x * share, where a share or keep of 0 leaves out what it would multiply, NaN as well.
  void add_shares(const T* x, const T* share, std::ptrdiff_t rows, T* to, const T* keep) const {
    const D d;
    const hn::Vec<D> zero = hn::Zero(d);
    for (std::ptrdiff_t r = 0; r < rows; ++r) {
      for (std::ptrdiff_t i = 0; i < tiles_.lanes; i += Tiles::kLanes, x += Tiles::kLanes, to += Tiles::kLanes) {
        const hn::Vec<D> kept = hn::LoadU(d, keep + i), part = hn::LoadU(d, share + i);
        const hn::Vec<D> before = hn::IfThenElse(hn::Eq(kept, zero), zero, hn::Mul(hn::Load(d, to), kept));
        const hn::Vec<D> next = hn::IfThenElse(hn::Eq(part, zero), zero, hn::Mul(hn::Load(d, x), part));
        hn::Store(hn::Add(before, next), d, to);
      }
    }
  }

  const Tiles& tiles_;
  const AttentionTask& task_;
  const std::ptrdiff_t rows_;  // of o
};

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
