// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/matmul.cpp"
// foreach_target.h must come before anything that includes highway.h.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/dispatch.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Register tile: kTileRows rows of A by kTileVectors vectors of outputs. Accumulators fill most of the registers (12
// of 16 in AVX2, 24 of 32 in AVX-512); each step then loads kTileVectors vectors and broadcasts kTileRows numbers.
#if HWY_TARGET == HWY_AVX3
constexpr int kTileRows = 12, kTileVectors = 2;
#elif HWY_TARGET == HWY_AVX2
constexpr int kTileRows = 6, kTileVectors = 2;
#else
constexpr int kTileRows = 4, kTileVectors = 2;
#endif

// Columns from `column` on: kRows rows by kVectors vectors, of which `columns` are wanted. W's column `column` + i
// stands in the panel of that number; b points at `column` in its panel.
template <int kRows, int kVectors, class D, class T = hn::TFromD<D>>
HWY_INLINE void multiply_tile(D d, const MatmulBlock<T>& block, const T* HWY_RESTRICT a, const T* HWY_RESTRICT b,
                              std::ptrdiff_t columns, T* HWY_RESTRICT c) {
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(d);
  constexpr std::ptrdiff_t kWidth = kPanelColumns<T>;
  const std::ptrdiff_t a_row = block.a_row, a_column = block.a_column, panel = block.depth * kWidth;
  hn::Vec<D> sums[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::Zero(d);
  }
  for (std::ptrdiff_t k = 0; k < block.depth; ++k) {
    hn::Vec<D> w[kVectors];
    for (int v = 0; v < kVectors; ++v) w[v] = hn::Load(d, b + v * kLanes / kWidth * panel + v * kLanes % kWidth);
    for (int r = 0; r < kRows; ++r) {
      const hn::Vec<D> x = hn::Set(d, a[r * a_row]);
      for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(x, w[v], sums[r][v]);
    }
    a += a_column;
    b += kWidth;
  }
  if (columns >= kVectors * kLanes) {
    for (int r = 0; r < kRows; ++r) {
      for (int v = 0; v < kVectors; ++v) hn::StoreU(sums[r][v], d, c + r * block.c_row + v * kLanes);
    }
    return;
  }
  alignas(64) T row[kVectors * kLanes];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) hn::Store(sums[r][v], d, row + v * kLanes);
    std::copy(row, row + columns, c + r * block.c_row);
  }
}

// The last, smaller row tile: kRows or fewer rows.
template <int kRows, int kVectors, class D, class T = hn::TFromD<D>>
HWY_INLINE void multiply_rest(D d, const MatmulBlock<T>& block, std::ptrdiff_t rows, const T* a, const T* b,
                              std::ptrdiff_t columns, T* c) {
  if (rows == kRows) return multiply_tile<kRows, kVectors>(d, block, a, b, columns, c);
  if constexpr (kRows > 1) multiply_rest<kRows - 1, kVectors>(d, block, rows, a, b, columns, c);
}

template <int kVectors, class D, class T = hn::TFromD<D>>
HWY_NOINLINE void multiply_columns(D d, const MatmulBlock<T>& block, std::ptrdiff_t column) {
  constexpr std::ptrdiff_t kWidth = kPanelColumns<T>;
  const T* b = block.panels + column / kWidth * kWidth * block.depth + column % kWidth;
  const std::ptrdiff_t columns = block.columns - column;
  std::ptrdiff_t row = 0;
  for (; row + kTileRows <= block.rows; row += kTileRows) {
    multiply_tile<kTileRows, kVectors>(d, block, block.a + row * block.a_row, b, columns,
                                       block.c + row * block.c_row + column);
  }
  if constexpr (kTileRows > 1) {
    multiply_rest<kTileRows - 1, kVectors>(d, block, block.rows - row, block.a + row * block.a_row, b, columns,
                                           block.c + row * block.c_row + column);
  }
}

// A strip of columns stays in the first or second cache level while all rows pass by it.
template <class T>
void multiply(const MatmulBlock<T>& block) {
  const hn::CappedTag<T, kPanelColumns<T>> d;
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(d);
  const std::ptrdiff_t padded = panel_count<T>(block.columns) * kPanelColumns<T>;
  std::ptrdiff_t column = 0;
  for (; column < block.columns && column + kTileVectors * kLanes <= padded; column += kTileVectors * kLanes) {
    multiply_columns<kTileVectors>(d, block, column);
  }
  // Where a vector is a whole panel, one panel can be left over.
  if (column < block.columns) multiply_columns<1>(d, block, column);
}

void multiply_f32(const MatmulBlock<float>& block) { multiply(block); }
void multiply_f64(const MatmulBlock<double>& block) { multiply(block); }

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn::kernels {

HWY_EXPORT(multiply_f32);
HWY_EXPORT(multiply_f64);

void matmul(const MatmulBlock<float>& block, std::int64_t target) noexcept {
  ATTN_DISPATCH(multiply_f32, target)(block);
}
void matmul(const MatmulBlock<double>& block, std::int64_t target) noexcept {
  ATTN_DISPATCH(multiply_f64, target)(block);
}

}  // namespace attn::kernels
#endif
