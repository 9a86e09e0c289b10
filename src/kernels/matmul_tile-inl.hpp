// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set: the register tile of a matrix product.
#if defined(ATTN_KERNELS_MATMUL_TILE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_KERNELS_MATMUL_TILE_INL_HPP
#undef ATTN_KERNELS_MATMUL_TILE_INL_HPP
#else
#define ATTN_KERNELS_MATMUL_TILE_INL_HPP
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/matmul.hpp"
#include "kernels/unroll.hpp"

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Register tile: kTileRows rows of A by kTileVectors vectors of outputs. Accumulators fill most of the registers (12 of
// 16 in AVX2, 24 of 32 in AVX-512 and NEON); each step then loads kTileVectors vectors and broadcasts kTileRows
// numbers.
#if HWY_TARGET == HWY_AVX3
constexpr int kTileRows = 12, kTileVectors = 2;
#elif HWY_TARGET == HWY_AVX2
constexpr int kTileRows = 6, kTileVectors = 2;
#elif HWY_TARGET == HWY_NEON
constexpr int kTileRows = 6, kTileVectors = 4;
#else
constexpr int kTileRows = 4, kTileVectors = 2;
#endif

// As many of a panel's numbers as a vector holds, widened exactly.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_weights(D d, const T* p) {
  return hn::Load(d, p);
}
template <class D>
HWY_INLINE hn::Vec<D> load_weights(D d, const bf16* p) {
  const hn::Rebind<std::uint16_t, D> half;
  const hn::Rebind<std::uint32_t, D> whole;
  const auto bits = hn::LoadU(half, reinterpret_cast<const std::uint16_t*>(p));
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(whole, bits)));
}
template <class D>
HWY_INLINE hn::Vec<D> load_weights(D d, const std::int8_t* p) {
  const hn::Rebind<std::int8_t, D> quarter;
  const hn::Rebind<std::int32_t, D> whole;
  return hn::ConvertTo(d, hn::PromoteTo(whole, hn::LoadU(quarter, p)));
}

// One tile's operands: kRows rows by kVectors vectors, in panels that lie `panel` numbers apart.
template <class T, class W>
struct Tile {
  const T* a;
  std::ptrdiff_t a_row;
  const W* b;
  std::ptrdiff_t panel;
  T* c;
  std::ptrdiff_t c_row;
  std::ptrdiff_t depth;
  bool is_first;  // whether the sums start from 0; the others go on from those in c
};

// The step for one k, of all rows and vectors.
template <int kRows, int kVectors, class D, class T, class W>
HWY_INLINE void multiply_step(D d, const T* const HWY_RESTRICT* rows, const W* HWY_RESTRICT b, std::ptrdiff_t panel,
                              std::ptrdiff_t k, hn::Vec<D> (&sums)[kRows][kVectors]) {
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(d), kWidth = kPanelColumns<T>;
  hn::Vec<D> w[kVectors];
  ATTN_UNROLL for (int v = 0; v < kVectors; ++v) {
    w[v] = load_weights(d, b + v * kLanes / kWidth * panel + v * kLanes % kWidth + k * kWidth);
  }
  ATTN_UNROLL for (int r = 0; r < kRows; ++r) {
    const hn::Vec<D> x = hn::Set(d, rows[r][k]);
    ATTN_UNROLL for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(x, w[v], sums[r][v]);
  }
}

// kAhead: how many steps ahead of their use panels are asked for from memory; 0 where the cache holds them.
template <int kRows, int kVectors, int kAhead, class D, class T, class W>
HWY_NOINLINE void multiply_tile(D d, const Tile<T, W>& tile) {
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(d), kWidth = kPanelColumns<T>;
  constexpr std::ptrdiff_t kSteps = 4;
  const std::ptrdiff_t panel = tile.panel;
  hn::Vec<D> sums[kRows][kVectors];
  const T* rows[kRows];
  ATTN_UNROLL for (int r = 0; r < kRows; ++r) {
    rows[r] = tile.a + r * tile.a_row;
    ATTN_UNROLL for (int v = 0; v < kVectors; ++v) {
      sums[r][v] = tile.is_first ? hn::Zero(d) : hn::LoadU(d, tile.c + r * tile.c_row + v * kLanes);
    }
  }
  const W* b = tile.b;
  std::ptrdiff_t k = 0;
  for (; k + kSteps <= tile.depth; k += kSteps) {
    if constexpr (kAhead > 0) {
      constexpr std::ptrdiff_t kLine = 64 / static_cast<std::ptrdiff_t>(sizeof(W));
      constexpr int kPanels = static_cast<int>((kVectors * kLanes + kWidth - 1) / kWidth);
      ATTN_UNROLL for (int p = 0; p < kPanels; ++p) {
        ATTN_UNROLL for (std::ptrdiff_t at = 0; at < kSteps * kWidth; at += kLine) {
          hwy::Prefetch(b + p * panel + kAhead * kWidth + at);
        }
      }
    }
    ATTN_UNROLL for (std::ptrdiff_t step = 0; step < kSteps; ++step) {
      multiply_step<kRows, kVectors>(d, rows, b, panel, step, sums);
    }
    ATTN_UNROLL for (int r = 0; r < kRows; ++r) rows[r] += kSteps;
    b += kSteps * kWidth;
  }
  for (; k < tile.depth; ++k) {
    multiply_step<kRows, kVectors>(d, rows, b, panel, 0, sums);
    ATTN_UNROLL for (int r = 0; r < kRows; ++r)++ rows[r];
    b += kWidth;
  }
  ATTN_UNROLL for (int r = 0; r < kRows; ++r) {
    ATTN_UNROLL for (int v = 0; v < kVectors; ++v) hn::StoreU(sums[r][v], d, tile.c + r * tile.c_row + v * kLanes);
  }
}

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
