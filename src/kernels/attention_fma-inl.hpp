// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set, by kernels/attention.cpp.
#if defined(ATTN_KERNELS_ATTENTION_FMA_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_KERNELS_ATTENTION_FMA_INL_HPP
#undef ATTN_KERNELS_ATTENTION_FMA_INL_HPP
#else
#define ATTN_KERNELS_ATTENTION_FMA_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/attention_dropout-inl.hpp"
#include "kernels/attention_task-inl.hpp"
#include "kernels/attention_tile-inl.hpp"
#include "kernels/attention_values-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// A narrow tile's values are added so many keys at a time, so that they are still in the first cache; a multiple of
// what weights_of_keys takes at once.
constexpr std::ptrdiff_t kNarrowKeys = 24;

// Both products by multiply-adds of T, to which a block of keys and values is widened.
template <class Number>
class FmaProducts {
  using Tiles = TaskTiles<Number>;
  using D = typename Tiles::D;

 public:
  using T = Number;
  static constexpr std::ptrdiff_t kGroup = HWY_NAMESPACE::kGroup;
  template <int kWide>
  static constexpr std::ptrdiff_t kStep = kGroup* kGroupsAtOnce<kWide>;

  explicit FmaProducts(const Tiles& tiles) : tiles_(tiles), task_(tiles.task) {}

  void load_queries(std::ptrdiff_t t) {
    tiles_.load_queries(t, static_cast<T>(task_.scale * (task_.softcap == 0 ? kLog2e : 1)));
  }

  void load_block(std::ptrdiff_t k0, std::ptrdiff_t keys, std::int64_t end) {
    k_ = tiles_.keys(k0, keys);
    v_ = tiles_.values(k0, keys);
    v_is_finite_ = Finite::unknown;
    prefetch_block(k0, end);
  }

  std::ptrdiff_t strip_keys() const { return is_narrow() ? kNarrowKeys : tiles_.mem.block_keys; }

  template <int kWide, bool kSteps>
  void weights(const Strip& s, std::ptrdiff_t from, std::ptrdiff_t to, const ScoreSteps<T>& steps) {
    weights_of_keys<kWide, kSteps>(D(), k_, s.from, from, to, tiles_.tile(s.tile, s.first), steps, next_);
  }

  // `hides`: whether a pair of the strip may be hidden.
  template <int kWide>
  void add_values(const Strip& s, bool hides) {
    const D d;
    const Tile<T> tile = tiles_.tile(s.tile, s.first);
    if (!is_narrow()) next_ = {};
    if (task_.dropout.rule != nullptr) drop(s);
    if (hides && !v_is_finite()) {
      ScoreSteps<T> steps;
      tiles_.load_visible(s, s.to, true, steps);
      add_values_of_keys<kWide, true>(d, v_, s.from, s.to, tile, steps);
    } else {
      add_values_of_keys<kWide, false>(d, v_, s.from, s.to, tile, {});
    }
  }

 private:
  // The next block is asked for while the first tile works on this one. A single narrow tile has too little to do in a
  // block for that: it asks for the values of the keys it is at, and for the keys that follow them.
  void prefetch_block(std::ptrdiff_t k0, std::int64_t end) {
    next_ = {};
    const bool few = is_narrow();
    const std::ptrdiff_t block = tiles_.mem.block_keys, k1 = k0 + (few ? kNarrowKeys : block), v1 = few ? k0 : k1;
    if (k1 < end && tiles_.mem.k == nullptr) {
      next_.k = tiles_.keys(k1, std::min<std::ptrdiff_t>(block, end - k1));
    }
    if (v1 < end && tiles_.mem.v == nullptr) {
      next_.v = tiles_.values(v1, std::min<std::ptrdiff_t>(block, end - v1));
    }
  }
  bool is_narrow() const { return tiles_.mem.tiles == 1 && tiles_.lanes == Tiles::kLanes && tiles_.mem.k == nullptr; }

  void drop(const Strip& s) {
    PairBlock block = tiles_.pairs(s, s.from, s.to);
    block.lanes = tiles_.lanes;
    drop_weights(D(), task_, block, tiles_.mem.p + s.from * tiles_.lanes + s.first * Tiles::kLanes);
  }

  bool v_is_finite() {
    if (v_is_finite_ == Finite::unknown) {
      v_is_finite_ = all_finite(D(), v_.data, v_.stride, v_.count, task_.dim_v) ? Finite::yes : Finite::no;
    }
    return v_is_finite_ == Finite::yes;
  }

  enum class Finite { unknown, no, yes };
  const Tiles& tiles_;
  const AttentionTask& task_;
  Rows<T> k_ = {}, v_ = {};
  NextBlock<T> next_ = {};
  Finite v_is_finite_ = Finite::unknown;
};

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
