// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/view.hpp>
#include <cstddef>
#include <cstdint>

namespace attn::kernels {

// Weights are stored (output features N, input features K), as a linear layer's. The product wants the weights of
// neighbouring outputs side by side, so they are packed once: panel p holds, for k = 0 .. K - 1 in turn, W[n][k] of its
// outputs n, one cache line of them. The last panel is filled up with zeros. Every instruction set reads this layout.
template <class T>
inline constexpr std::ptrdiff_t kPanelColumns = 64 / static_cast<std::ptrdiff_t>(sizeof(T));

template <class T>
constexpr std::ptrdiff_t panel_count(std::ptrdiff_t columns) noexcept {
  return (columns + kPanelColumns<T> - 1) / kPanelColumns<T>;
}

// Packs columns [first panel, last panel) of W, (N, K) of any strides and of dtype f32, f64, bf16 or f16.
// `panels` has room for panel_count(N) * kPanelColumns * K numbers and is aligned to 64 bytes.
template <class T>
void pack_panels(DType dtype, const void* w, const Extents<2>& extents, const Extents<2>& strides,
                 std::ptrdiff_t first_panel, std::ptrdiff_t last_panel, T* panels) noexcept;

// C = A W^T for a block of rows and columns.
template <class T>
struct MatmulBlock {
  const T* a;                      // (rows, depth), any strides
  std::ptrdiff_t a_row, a_column;  // in elements
  const T* panels;                 // of the block's first column, whose number is a multiple of kPanelColumns
  T* c;                            // (rows, columns), columns side by side
  std::ptrdiff_t c_row;
  std::ptrdiff_t rows, columns, depth;
};

// Each element is summed over k in ascending order, one multiply-add (fused where the instruction set has it) after
// another, whatever the block's shape and its place in it: a row's bits depend on the row alone. depth 0 gives zeros.
void matmul(const MatmulBlock<float>& block, std::int64_t target) noexcept;
void matmul(const MatmulBlock<double>& block, std::int64_t target) noexcept;

}  // namespace attn::kernels
