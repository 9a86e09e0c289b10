// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace attn::kernels {

// Rows to normalise, each for itself.
template <class T>
struct NormRows {
  const T* x;  // (rows, columns), columns side by side
  std::ptrdiff_t x_row;
  T* y;  // may be x
  std::ptrdiff_t y_row;
  const T* weight;  // (columns), or null: 1
  const T* bias;    // (columns), or null: 0
  std::ptrdiff_t rows, columns;
  T eps;
};

// y = (x - mean) / sqrt(variance + eps) * weight + bias, mean and biased variance over the row, in passes (Ba et
// al. 2016, "Layer normalization"). Sums run along the row in an order that depends on `columns` alone.
void layer_norm(const NormRows<float>& rows, std::int64_t target) noexcept;
void layer_norm(const NormRows<double>& rows, std::int64_t target) noexcept;

// y = x / sqrt(mean of squares + eps) * weight + bias (Zhang & Sennrich 2019).
void rms_norm(const NormRows<float>& rows, std::int64_t target) noexcept;
void rms_norm(const NormRows<double>& rows, std::int64_t target) noexcept;

}  // namespace attn::kernels
