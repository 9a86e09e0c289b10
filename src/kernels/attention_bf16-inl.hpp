// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set, by kernels/attention_bf16.cpp.
#if defined(ATTN_KERNELS_ATTENTION_BF16_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_KERNELS_ATTENTION_BF16_INL_HPP
#undef ATTN_KERNELS_ATTENTION_BF16_INL_HPP
#else
#define ATTN_KERNELS_ATTENTION_BF16_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/attention_dropout-inl.hpp"
#include "kernels/attention_pair_rows-inl.hpp"
#include "kernels/attention_pair_weights-inl.hpp"
#include "kernels/attention_task-inl.hpp"
#include "kernels/attention_tile-inl.hpp"
#include "kernels/attention_units-inl.hpp"
#include "kernels/attention_values-inl.hpp"

#if HWY_TARGET <= HWY_AVX3
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512bf16")
namespace attn::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Both products in pairs of bf16, by `Unit`: DotUnit or TileUnit. Keys are read in their own layout where whole tiles
// of them can be; values are turned over, once for all tiles of the task.
template <class Unit>
class PairProducts {
  using Tiles = TaskTiles<float>;
  using D = Tiles::D;
  using V = hn::Vec<D>;
  static constexpr std::ptrdiff_t kLanes = kPairLanes;

 public:
  using T = float;
  static constexpr std::ptrdiff_t kGroup = kPairGroup;
  template <int kWide>
  static constexpr std::ptrdiff_t kStep = kGroup;

  explicit PairProducts(const Tiles& tiles)
      : tiles_(tiles), task_(tiles.task), pairs_(TaskScratch<float>::pairs_of(task_.dim_qk)) {
    const double scale = task_.scale * (task_.softcap == 0 ? kLog2e : 1);
    factor_ = static_cast<float>(std::abs(scale));
    // -inf times a scale of 0 would not be -inf.
    scales_first_ = task_.softcap != 0 || task_.bias.wanted() || task_.alibi_slopes != nullptr || factor_ == 0;
    flip_ = scale < 0 ? 0x80008000u : 0;
  }

  void load_queries(std::ptrdiff_t t) {
    // What PairOutputs computes scores from.
    if (tiles_.mem.q != nullptr) {
      tiles_.load_queries(t, static_cast<float>(task_.scale * (task_.softcap == 0 ? kLog2e : 1)));
    }
    const std::ptrdiff_t first = t * tiles_.lanes, queries = tiles_.queries_of(t);
    for (std::ptrdiff_t lane = 0; lane < tiles_.lanes; lane += kLanes) {
      const std::ptrdiff_t row = std::min(lane, queries - 1);
      load_query_pairs(task_.q, first + row, queries - row, task_.dim_qk, flip_, tiles_.lanes,
                       tiles_.mem.q_pairs + t * tiles_.lanes * pairs_ + lane);
    }
  }

  void load_block(std::ptrdiff_t k0, std::ptrdiff_t keys, std::int64_t) {
    k0_ = k0;
    keys_ = keys;
    v_is_finite_ = Finite::unknown;
    k_ = key_pairs();
    load_value_pairs(task_.v, k0, keys, task_.dim_v, value_stride(), tiles_.mem.v_pairs);
  }

  std::ptrdiff_t strip_keys() const { return tiles_.mem.block_keys; }

  template <int kWide, bool kSteps>
  HWY_NOINLINE void weights(const Strip& s, std::ptrdiff_t from, std::ptrdiff_t to, const ScoreSteps<float>& steps) {
    if constexpr (kSteps) {
      for (std::ptrdiff_t j = from; j < to; j += kGroup) {
        for_vectors<kWide>([&]<int kPart>(std::ptrdiff_t w) HWY_ATTR { finished_weights<kPart>(s, w, j, steps); });
      }
    } else {
      for_vectors<kWide>([&]<int kPart>(std::ptrdiff_t w) HWY_ATTR { plain_weights<kPart>(s, w, from, to); });
    }
  }

  // `hides`: whether a pair of the strip may be hidden.
  template <int kWide>
  HWY_NOINLINE void add_values(const Strip& s, bool hides) {
    const Tile<float> tile = tiles_.tile(s.tile, s.first);
    if (task_.dropout.rule != nullptr) drop<kWide>(s, tile);
    if (hides && !v_is_finite()) return add_visible_values<kWide>(s, tile);
    const std::ptrdiff_t first = s.from / 2, pairs = (s.to - s.from + kGroup - 1) / kGroup * (kGroup / 2);
    unit_.template values<kWide>({.data = tiles_.mem.v_pairs + first, .stride = value_stride()},
                                 p_pairs(s) + first * tiles_.lanes, tiles_.lanes, pairs, tile.dim_v - 1, tile.o);
  }

 private:
  std::ptrdiff_t value_stride() const { return tiles_.mem.block_keys / 2; }
  const std::uint32_t* q_pairs(const Strip& s, std::ptrdiff_t w) const {
    return tiles_.mem.q_pairs + s.tile * tiles_.lanes * pairs_ + (s.first + w) * kLanes;
  }
  std::uint32_t* p_pairs(const Strip& s) const { return tiles_.mem.p_pairs + s.first * kLanes; }

  // The block's keys: in place, or copied where a tile would reach beyond them, or where they do not lie in words.
  PairRows key_pairs() const {
    const Matrix& k = task_.k;
    const auto* x = static_cast<const std::uint16_t*>(k.data) + k.at_row(k0_);
    const bool in_words = k.column_stride == 1 && k.row_stride % 2 == 0 && reinterpret_cast<std::uintptr_t>(x) % 4 == 0;
    if (in_words && task_.dim_qk % 32 == 0 && keys_ % kGroup == 0) {
      return {.data = reinterpret_cast<const std::uint32_t*>(x), .stride = k.row_stride / 2};
    }
    std::uint32_t* copy = tiles_.mem.k_pairs;
    copy_pairs(k, k0_, keys_, (keys_ + kGroup - 1) / kGroup * kGroup, task_.dim_qk, pairs_, copy);
    return {.data = copy, .stride = pairs_};
  }

  // Calls f with each two vectors of kWide, or the one that is left.
  template <int kWide, class F>
  static HWY_INLINE void for_vectors(const F& f) {
    for (std::ptrdiff_t w = 0; w + 2 <= kWide; w += 2) f.template operator()<2>(w);
    if constexpr (kWide % 2 != 0) f.template operator()<1>(kWide - 1);
  }

  // The scores of kPart vectors, from the strip's vector w on, with the 32 keys from key j of the block on: begun, and
  // stored.
  template <int kPart>
  HWY_INLINE void begin_scores(const Strip& s, std::ptrdiff_t w, std::ptrdiff_t j) const {
    Unit::template begin_scores<kPart>({.data = k_.data + j * k_.stride, .stride = k_.stride}, q_pairs(s, w),
                                       tiles_.lanes, pairs_);
  }
  template <int kPart>
  HWY_INLINE void end_scores(const Strip& s, std::ptrdiff_t w, std::ptrdiff_t j, std::ptrdiff_t stride,
                             float* to) const {
    Unit::template end_scores<kPart>({.data = k_.data + j * k_.stride, .stride = k_.stride}, q_pairs(s, w),
                                     tiles_.lanes, pairs_, stride, to);
  }

  // The scores of a group are multiplied while the weights of the one before are computed, which does not need the same
  // parts of the processor. They are stored after that only: a weight's loads would wait for stores that are 4 KiB away
  // as if they were to the same place.
  template <int kPart>
  HWY_NOINLINE void plain_weights(const Strip& s, std::ptrdiff_t w, std::ptrdiff_t from, std::ptrdiff_t to) const {
    constexpr std::ptrdiff_t kStride = kPart * kLanes;
    const Tile<float> tile = tiles_.tile(s.tile, s.first + w);
    float *now = tiles_.mem.p, *next = now + kGroup * kStride;
    begin_scores<kPart>(s, w, from);
    end_scores<kPart>(s, w, from, kStride, now);
    for (std::ptrdiff_t j = from; j < to; j += kGroup) {
      const bool is_last = j + kGroup >= to;
      if (!is_last) begin_scores<kPart>(s, w, j + kGroup);
      softmax_pairs<kPart>(tile, now, kStride, p_pairs(s) + w * kLanes, s.from, j, factor_);
      if (!is_last) end_scores<kPart>(s, w, j + kGroup, kStride, next);
      std::swap(now, next);
    }
  }

  template <int kPart>
  HWY_NOINLINE void finished_weights(const Strip& s, std::ptrdiff_t w, std::ptrdiff_t j,
                                     const ScoreSteps<float>& steps) const {
    const Tile<float> tile = tiles_.tile(s.tile, s.first + w);
    float* at = tile.p + j * tile.lanes;
    begin_scores<kPart>(s, w, j);
    end_scores<kPart>(s, w, j, tile.lanes, at);
    finish_group<kPart>(tile, j, steps_from<kLanes>(steps, w));
    softmax_pairs<kPart>(tile, at, tile.lanes, p_pairs(s) + w * kLanes, s.from, j, scales_first_ ? 1 : factor_);
  }

  // Scores of the group at key j, finished in place, and scaled before that where it matters: scores that are only
  // hidden or not are scaled together with the subtraction of the reference, as those that nothing happens to.
  template <int kWide>
  HWY_INLINE void finish_group(const Tile<float>& t, std::ptrdiff_t j, const ScoreSteps<float>& steps) const {
    constexpr int kRows = 4;
    const D d;
    const V factor = hn::Set(d, scales_first_ ? factor_ : 1);
    for (std::ptrdiff_t r = j; r < j + kGroup; r += kRows) {
      V s[kRows][kWide];
      float* at = t.p + r * t.lanes;
      ATTN_UNROLL for (int i = 0; i < kRows; ++i) {
        ATTN_UNROLL for (int w = 0; w < kWide; ++w) {
          s[i][w] = hn::Mul(hn::Load(d, at + i * t.lanes + w * kLanes), factor);
        }
      }
      finish_scores<kWide, kRows>(d, steps, t, r, s);
      ATTN_UNROLL for (int i = 0; i < kRows; ++i) {
        ATTN_UNROLL for (int w = 0; w < kWide; ++w) hn::Store(s[i][w], d, at + i * t.lanes + w * kLanes);
      }
    }
  }

  // The strip's weights as numbers in t.p, where the scores were.
  template <int kWide>
  void unpack(const Strip& s, const Tile<float>& t) const {
    const std::uint32_t* pairs = p_pairs(s);
    for (std::ptrdiff_t j = s.from; j < s.to; j += 2) {
      for (int w = 0; w < kWide; ++w) {
        const __m512i both = _mm512_load_si512(pairs + j / 2 * t.lanes + w * kLanes);
        _mm512_store_ps(t.p + j * t.lanes + w * kLanes, low_of_pairs(both));
        _mm512_store_ps(t.p + (j + 1) * t.lanes + w * kLanes, high_of_pairs(both));
      }
    }
  }

  template <int kWide>
  void drop(const Strip& s, const Tile<float>& t) const {
    unpack<kWide>(s, t);
    PairBlock block = tiles_.pairs(s, s.from, s.to);
    block.lanes = t.lanes;
    drop_weights(D(), task_, block, t.p + s.from * t.lanes);
    std::uint32_t* pairs = p_pairs(s);
    for (std::ptrdiff_t j = s.from; j < s.to; j += 2) {
      for (int w = 0; w < kWide; ++w) {
        const float* at = t.p + j * t.lanes + w * kLanes;
        _mm512_store_si512(pairs + j / 2 * t.lanes + w * kLanes,
                           pair_bf16(_mm512_load_ps(at), _mm512_load_ps(at + t.lanes)));
      }
    }
  }

  // Where a hidden key's value is not finite, 0 times it is not 0: number by number then.
  template <int kWide>
  void add_visible_values(const Strip& s, Tile<float> tile) const {
    unpack<kWide>(s, tile);
    ScoreSteps<float> steps;
    tiles_.load_visible(s, s.to, true, steps);
    tile.dim_v = task_.dim_v;
    add_values_of_keys<kWide, true>(D(), tiles_.values(k0_, keys_), s.from, s.to, tile, steps);
  }

  bool v_is_finite() {
    if (v_is_finite_ == Finite::unknown) {
      v_is_finite_ = are_finite(task_.v, k0_, keys_, task_.dim_v) ? Finite::yes : Finite::no;
    }
    return v_is_finite_ == Finite::yes;
  }

  enum class Finite { unknown, no, yes };
  Unit unit_ = {};
  const Tiles& tiles_;
  const AttentionTask& task_;
  const std::ptrdiff_t pairs_;
  float factor_ = 1;  // of scores
  bool scales_first_ = false;
  std::uint32_t flip_ = 0;
  std::ptrdiff_t k0_ = 0, keys_ = 0;
  PairRows k_ = {};
  Finite v_is_finite_ = Finite::unknown;
};

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_POP_ATTRIBUTES
#endif  // HWY_TARGET <= HWY_AVX3

#endif
