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
#include "kernels/matmul_tile-inl.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Panels pass through the first cache level in pieces of this depth (16 kB of f32 in AVX2), beside which the rows of a
// tile fit.
constexpr std::ptrdiff_t kDepthBlock = 256;

// Up to so many row tiles do without that: what they read comes from memory, asked for kAhead steps before it is used,
// and narrow numbers are not worth widening once for all.
constexpr std::ptrdiff_t kFewTiles = 3;
constexpr int kAhead = 32;

template <class W, class T>
const W* panels_at(const MatmulBlock<T>& block, std::ptrdiff_t column) {
  constexpr std::ptrdiff_t kWidth = kPanelColumns<T>;
  return static_cast<const W*>(block.panels) + column / kWidth * kWidth * block.depth + column % kWidth;
}

// Rows that fill no tile, from `column` on: fewer rows take more vectors at a time, so that additions never wait for
// each other.
template <int kRows, int kVectors, class W, class D, class T = hn::TFromD<D>>
void multiply_few(D d, const MatmulBlock<T>& block, std::ptrdiff_t row, std::ptrdiff_t column) {
  constexpr std::ptrdiff_t kColumns = kVectors * static_cast<std::ptrdiff_t>(hn::MaxLanes(d));
  const std::ptrdiff_t padded = panel_count<T>(block.columns) * kPanelColumns<T>;
  for (; column + kColumns <= padded; column += kColumns) {
    multiply_tile<kRows, kVectors, kAhead>(
        d, Tile<T, W>{block.a + row * block.a_row, block.a_row, panels_at<W>(block, column),
                      block.depth * kPanelColumns<T>, block.c + row * block.c_row + column, block.c_row, block.depth,
                      !block.accumulates});
  }
  if constexpr (kColumns > kPanelColumns<T>) {
    if (column < padded) multiply_few<kRows, kVectors / 2, W>(d, block, row, column);
  }
}

constexpr int vectors_for(int rows) {
  int vectors = 8;
  while (vectors > kTileVectors && rows * vectors > kTileRows * kTileVectors) vectors /= 2;
  return vectors;
}

// The last `rows` rows, kRows or fewer.
template <int kRows, class W, class D, class T = hn::TFromD<D>>
void multiply_rest(D d, const MatmulBlock<T>& block, std::ptrdiff_t rows) {
  if (rows == kRows) return multiply_few<kRows, vectors_for(kRows), W>(d, block, block.rows - rows, 0);
  if constexpr (kRows > 1) multiply_rest<kRows - 1, W>(d, block, rows);
}

// The same panels as T, in the order of the tile's.
template <class W, class D, class T = hn::TFromD<D>>
void widen_panels(D d, const W* from, std::ptrdiff_t panel, std::ptrdiff_t depth, std::ptrdiff_t columns, T* to) {
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(d), kWidth = kPanelColumns<T>;
  for (std::ptrdiff_t p = 0; p < columns; p += kWidth, from += panel) {
    for (std::ptrdiff_t at = 0; at < depth * kWidth; at += kLanes, to += kLanes) {
      hn::Store(load_weights(d, from + at), d, to);
    }
  }
}

// Whole row tiles in the columns of kVectors vectors. Panels of narrow numbers are widened once for all tiles, where a
// strip is whole panels.
template <int kVectors, class W, class D, class T = hn::TFromD<D>>
void multiply_strip(D d, const MatmulBlock<T>& block, std::ptrdiff_t rows, std::ptrdiff_t column) {
  constexpr std::ptrdiff_t kWidth = kPanelColumns<T>;
  constexpr std::ptrdiff_t kColumns = kVectors * static_cast<std::ptrdiff_t>(hn::MaxLanes(d));
  constexpr bool kWidens = sizeof(W) < sizeof(T) && kColumns % kWidth == 0;
  using Read = std::conditional_t<kWidens, T, W>;
  HWY_ALIGN T widened[kWidens ? kColumns * kDepthBlock : 1];
  const W* panels = panels_at<W>(block, column);
  for (std::ptrdiff_t k = 0; k == 0 || k < block.depth; k += kDepthBlock) {
    const std::ptrdiff_t depth = std::min(kDepthBlock, block.depth - k);
    Tile<T, Read> tile{block.a + k,      block.a_row, nullptr, block.depth * kWidth,
                       block.c + column, block.c_row, depth,   k == 0 && !block.accumulates};
    if constexpr (kWidens) {
      widen_panels(d, panels + k * kWidth, tile.panel, depth, kColumns, widened);
      tile.b = widened;
      tile.panel = depth * kWidth;
    } else {
      tile.b = panels + k * kWidth;
    }
    for (std::ptrdiff_t row = 0; row < rows; row += kTileRows) {
      multiply_tile<kTileRows, kVectors, 0>(d, tile);
      tile.a += kTileRows * block.a_row;
      tile.c += kTileRows * block.c_row;
    }
  }
}

template <class W, class T>
void multiply(const MatmulBlock<T>& block) {
  const hn::CappedTag<T, kPanelColumns<T>> d;
  constexpr std::ptrdiff_t kColumns = kTileVectors * static_cast<std::ptrdiff_t>(hn::MaxLanes(d));
  const std::ptrdiff_t tiled = block.rows / kTileRows * kTileRows;
  if (tiled <= kFewTiles * kTileRows) {
    for (std::ptrdiff_t row = 0; row < tiled; row += kTileRows) {
      multiply_few<kTileRows, kTileVectors, W>(d, block, row, 0);
    }
  } else {
    const std::ptrdiff_t padded = panel_count<T>(block.columns) * kPanelColumns<T>;
    std::ptrdiff_t column = 0;
    for (; column + kColumns <= padded; column += kColumns) multiply_strip<kTileVectors, W>(d, block, tiled, column);
    // Where a vector is a whole panel, one panel can be left over.
    if constexpr (kColumns > kPanelColumns<T>) {
      if (column < padded) multiply_strip<kTileVectors / 2, W>(d, block, tiled, column);
    }
  }
  if (tiled < block.rows) multiply_rest<kTileRows - 1, W>(d, block, block.rows - tiled);
}

void multiply_f32(const MatmulBlock<float>& block) {
  switch (block.panel_dtype) {
    case DType::bf16:
      return multiply<bf16>(block);
    case DType::i8:
      return multiply<std::int8_t>(block);
    default:
      return multiply<float>(block);
  }
}
void multiply_f64(const MatmulBlock<double>& block) { multiply<double>(block); }

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
