// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set, inside kernels that use it.
#if defined(ATTN_KERNELS_BLOCKS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_KERNELS_BLOCKS_INL_HPP
#undef ATTN_KERNELS_BLOCKS_INL_HPP
#else
#define ATTN_KERNELS_BLOCKS_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/unroll.hpp"

// Small matrices turned over in registers.
HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR  // whose vectors hold one number, and have nothing to transpose
// The four (two of f64) numbers from `column` on of each of a vector's worth of rows; block b of vector i holds row
// i + 4 b.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_blocks(D d, const T* const* row, std::ptrdiff_t column) {
  if constexpr (hn::MaxLanes(D()) * sizeof(T) <= 16) {
    return hn::LoadU(d, row[0] + column);
#if HWY_TARGET <= HWY_AVX3
  } else if constexpr (sizeof(T) == 4 && hn::MaxLanes(D()) == 16) {
    // By masks, which leave the unit that moves blocks to the transposition.
    __m512 blocks = _mm512_broadcast_f32x4(_mm_loadu_ps(row[0] + column));
    blocks = _mm512_mask_broadcast_f32x4(blocks, 0x00f0, _mm_loadu_ps(row[4] + column));
    blocks = _mm512_mask_broadcast_f32x4(blocks, 0x0f00, _mm_loadu_ps(row[8] + column));
    return hn::Vec<D>{_mm512_mask_broadcast_f32x4(blocks, 0xf000, _mm_loadu_ps(row[12] + column))};
#endif
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_blocks(half, row + hn::MaxLanes(half), column), load_blocks(half, row, column));
  }
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_blocks(D d, hn::Vec<D> v, T* const* row, std::ptrdiff_t column) {
  if constexpr (hn::MaxLanes(D()) * sizeof(T) <= 16) {
    hn::StoreU(v, d, row[0] + column);
  } else {
    const hn::Half<D> half;
    store_blocks(half, hn::LowerHalf(half, v), row, column);
    store_blocks(half, hn::UpperHalf(half, v), row + hn::MaxLanes(half), column);
  }
}

// Transposes each 128-bit block's matrix of 4 x 4 (f64: 2 x 2) numbers.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void transpose_blocks(D d, V* v) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    const V low = hn::InterleaveLower(d, v[0], v[1]);
    v[1] = hn::InterleaveUpper(d, v[0], v[1]);
    v[0] = low;
  } else {
    const hn::Repartition<std::uint64_t, D> pairs;
    const auto a = hn::BitCast(pairs, hn::InterleaveLower(d, v[0], v[1]));
    const auto b = hn::BitCast(pairs, hn::InterleaveLower(d, v[2], v[3]));
    const auto c = hn::BitCast(pairs, hn::InterleaveUpper(d, v[0], v[1]));
    const auto e = hn::BitCast(pairs, hn::InterleaveUpper(d, v[2], v[3]));
    v[0] = hn::BitCast(d, hn::InterleaveLower(pairs, a, b));
    v[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, a, b));
    v[2] = hn::BitCast(d, hn::InterleaveLower(pairs, c, e));
    v[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, c, e));
  }
}

#endif  // HWY_TARGET != HWY_SCALAR

#if HWY_TARGET <= HWY_AVX3
// Block b of v[g] becomes block g of v[b].
HWY_INLINE void transpose_vectors(__m512 (&v)[4]) {
  const __m512 low0 = _mm512_shuffle_f32x4(v[0], v[1], 0x44), high0 = _mm512_shuffle_f32x4(v[0], v[1], 0xee);
  const __m512 low1 = _mm512_shuffle_f32x4(v[2], v[3], 0x44), high1 = _mm512_shuffle_f32x4(v[2], v[3], 0xee);
  v[0] = _mm512_shuffle_f32x4(low0, low1, 0x88);
  v[1] = _mm512_shuffle_f32x4(low0, low1, 0xdd);
  v[2] = _mm512_shuffle_f32x4(high0, high1, 0x88);
  v[3] = _mm512_shuffle_f32x4(high0, high1, 0xdd);
}

// columns_to_rows of 16 columns from c on: a whole cache line of each row at once, since a line that is written in
// parts is waited for several times.
template <class D>
HWY_INLINE void columns_to_lines(D d, const float* src, std::ptrdiff_t lanes, hn::Vec<D> factor, std::ptrdiff_t c,
                                 float* const* row) {
  hn::Vec<D> v[4][4];
  ATTN_UNROLL for (int g = 0; g < 4; ++g) {
    ATTN_UNROLL for (int i = 0; i < 4; ++i) {
      v[g][i] = hn::Add(hn::Mul(hn::LoadU(d, src + (c + 4 * g + i) * lanes), factor), hn::Zero(d));
    }
    transpose_blocks(d, v[g]);
  }
  ATTN_UNROLL for (int i = 0; i < 4; ++i) {
    __m512 lines[4] = {v[0][i].raw, v[1][i].raw, v[2][i].raw, v[3][i].raw};
    transpose_vectors(lines);
    ATTN_UNROLL for (int b = 0; b < 4; ++b) _mm512_storeu_ps(row[i + 4 * b] + c, lines[b]);
  }
}
#endif

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
