// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/view.hpp>
#include <cstddef>
#include <cstdint>

namespace attn::kernels {

// Weights are stored (output features N, input features K), as a linear layer's. The product wants the weights of
// neighbouring outputs side by side, so they are packed once: panel p holds, for k = 0 .. K - 1 in turn, W[n][k] of its
// kPanelColumns<T> outputs n, where T is what products are computed in. The last panel is filled up with zeros. Every
// instruction set reads this layout. The numbers may be stored narrower than T, as bf16 or int8.
template <class T>
inline constexpr std::ptrdiff_t kPanelColumns = 64 / static_cast<std::ptrdiff_t>(sizeof(T));

template <class T>
constexpr std::ptrdiff_t panel_count(std::ptrdiff_t columns) noexcept {
  return (columns + kPanelColumns<T> - 1) / kPanelColumns<T>;
}

// A weight to pack: (N, K) of any strides and of dtype f32, f64, bf16 or f16.
struct UnpackedWeight {
  DType dtype;
  const void* data;
  Extents<2> extents, strides;
};

// Packs panels [first, last) of `weight` for products in T, each number rounded once. `panels` has room for
// panel_count(N) * kPanelColumns * K numbers and is aligned to 64 bytes.
template <class T>
void pack_panels(const UnpackedWeight& weight, std::ptrdiff_t first, std::ptrdiff_t last, T* panels) noexcept;
void pack_bf16_panels(const UnpackedWeight& weight, std::ptrdiff_t first, std::ptrdiff_t last, bf16* panels) noexcept;

// W[n][k] is stored as q = round(W[n][k] / scale[n]), ties to even, in -127 ... 127, with scale[n] = max_k |W[n][k]| /
// 127 rounded to f32. A row of zeros has scale 0. `scales` has room for the panels' columns; those past N get 0. False
// when a number is infinite or NaN.
bool pack_int8_panels(const UnpackedWeight& weight, std::ptrdiff_t first, std::ptrdiff_t last, std::int8_t* panels,
                      float* scales) noexcept;

// C = A W^T for a block of rows and columns, or C += A W^T.
template <class T>
struct MatmulBlock {
  const T* a;  // (rows, depth), columns side by side
  std::ptrdiff_t a_row;
  DType panel_dtype;   // dtype_of<T>, or for T = float bf16 or i8, which count as the integers they are
  const void* panels;  // of the block's first column, whose number is a multiple of kPanelColumns
  T* c;                // (rows, columns rounded up to whole panels), columns side by side
  std::ptrdiff_t c_row;
  std::ptrdiff_t rows, columns, depth;
  bool accumulates = false;  // whether the sums start from what C holds, instead of 0
};

// Each element is summed over k in ascending order, one multiply-add (fused where the instruction set has it) after
// another, whatever the block's shape and its place in it: a row's bits depend on the row alone. depth 0 gives zeros,
// or what C held. Allocates nothing. Few rows (up to a register tile) read the panels once, at the speed of memory.
void matmul(const MatmulBlock<float>& block, std::int64_t target) noexcept;
void matmul(const MatmulBlock<double>& block, std::int64_t target) noexcept;

}  // namespace attn::kernels
