// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set, by kernels/attention.cpp.
#if defined(ATTN_KERNELS_ATTENTION_PAIRS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_KERNELS_ATTENTION_PAIRS_INL_HPP
#undef ATTN_KERNELS_ATTENTION_PAIRS_INL_HPP
#else
#define ATTN_KERNELS_ATTENTION_PAIRS_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "kernels/attention_task-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Weights and scores of a tile, asked for by few: the scores are computed again, block by block, once the tile's
// references and factors are final. Vector by vector, since the width of a tile changes no bit.
template <class T>
class PairOutputs {
  using Tiles = TaskTiles<T>;
  using D = typename Tiles::D;
  static constexpr std::ptrdiff_t kLanes = Tiles::kLanes;

 public:
  PairOutputs(const Tiles& tiles, std::ptrdiff_t tile) : tiles_(tiles), task_(tiles.task), tile_(tile) {}

  void store() const {
    fill_outside();
    if (task_.weights.wanted()) store_blocks(kLog2e, ScoreStage::masked, true);
    if (!task_.scores.wanted()) return;
    tiles_.load_queries(tile_, static_cast<T>(task_.scale));  // Scores are returned in natural units.
    store_blocks(1, task_.score_stage, false);
  }

 private:
  // Columns of other sequences.
  void fill_outside() const {
    const PairBlock rows = tiles_.pairs(strip(0, 0), 0, 0);
    const std::ptrdiff_t last = task_.first_column + task_.keys;
    const double outside = -std::numeric_limits<double>::infinity();
    for (const auto& [begin, end] :
         {std::pair{std::ptrdiff_t{0}, task_.first_column}, std::pair{last, task_.columns}}) {
      if (task_.weights.wanted()) fill_pairs(rows, task_.weights, begin, end, 0);
      if (task_.scores.wanted()) fill_pairs(rows, task_.scores, begin, end, outside);
    }
  }

  Strip strip(std::ptrdiff_t k0, std::ptrdiff_t keys) const {
    return {.tile = tile_, .first = 0, .end = tiles_.vectors_of(tile_), .k0 = k0, .from = 0, .to = keys};
  }

  void store_blocks(double unit, ScoreStage stage, bool as_weights) const {
    for (std::ptrdiff_t k0 = 0; k0 < task_.keys; k0 += tiles_.mem.block_keys) {
      const std::ptrdiff_t keys = std::min(tiles_.mem.block_keys, task_.keys - k0);
      const Strip s = strip(k0, keys);
      const ScoreSteps<T> steps = steps_of(s, unit, stage);
      const Rows<T> k = tiles_.keys(k0, keys);
      for (std::ptrdiff_t w = 0; w < s.end; ++w) scores_of_vector(k, w, steps, as_weights);
      PairBlock block = tiles_.pairs(s, 0, keys);
      block.lanes = tiles_.lanes;
      store_pairs(tiles_.mem.p, block, as_weights ? task_.weights : task_.scores, task_.first_column + k0);
    }
  }

  ScoreSteps<T> steps_of(const Strip& s, double unit, ScoreStage stage) const {
    if (stage == ScoreStage::scaled) return {};
    if (stage == ScoreStage::capped) return {.softcap = static_cast<T>(task_.softcap), .unit = static_cast<T>(unit)};
    ScoreSteps<T> steps = tiles_.steps(s, unit);
    tiles_.load_visible(s, tiles_.mem.block_keys, true, steps);
    return steps;
  }

  void scores_of_vector(const Rows<T>& k, std::ptrdiff_t w, const ScoreSteps<T>& all, bool as_weights) const {
    const D d;
    const ScoreSteps<T> steps = steps_from<kLanes>(all, w);
    const Tile<T> t = tiles_.tile(tile_, w);
    for (std::ptrdiff_t j = 0; j < k.count; j += kGroup) {
      const T* row[kGroup];
      for (int r = 0; r < kGroup; ++r) row[r] = k.data + std::min(j + r, k.count - 1) * k.stride;
      hn::Vec<D> s[kGroup][1];
      dot_rows(d, row, t, s);
      finish_scores<1>(d, steps, t, j, s);
      for (int r = 0; r < kGroup; ++r) {
        hn::Store(as_weights ? weight(t, steps, j + r, s[r][0]) : s[r][0], d, t.p + (j + r) * t.lanes);
      }
    }
  }

  // Hidden pairs have weight 0, in a row of NaN as well.
  HWY_INLINE hn::Vec<D> weight(const Tile<T>& t, const ScoreSteps<T>& steps, std::ptrdiff_t j, hn::Vec<D> score) const {
    const D d;
    const hn::Vec<D> raw = exp2_bounded(d, hn::Sub(score, hn::Load(d, t.reference)));
    return hn::IfThenElseZero(visible_lanes(d, steps, 0, j), hn::Mul(raw, hn::Load(d, t.factor)));
  }

  const Tiles& tiles_;
  const AttentionTask& task_;
  const std::ptrdiff_t tile_;
};

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
