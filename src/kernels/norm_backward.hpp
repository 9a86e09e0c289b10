// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace attn::kernels {

// The way back through normalised rows (kernels/norm.hpp), each for itself; what they give to the weight and the bias
// is added up, row after row.
template <class T>
struct NormBackwardRows {
  const T* x;  // (rows, columns), side by side, as dy and dx
  const T* dy;
  T* dx;            // may be dy
  const T* weight;  // (columns), or null: 1
  T* dweight;       // (columns), added to
  T* dbias;         // (columns), added to
  std::ptrdiff_t rows, columns;
  T eps;
};

// With h = (x - mean) / s, s = sqrt(variance + eps) and g = dy * weight:
// dx = (g - mean(g) - h * mean(g * h)) / s, dweight += dy * h, dbias += dy.
void layer_norm_backward(const NormBackwardRows<float>& rows, std::int64_t target) noexcept;
void layer_norm_backward(const NormBackwardRows<double>& rows, std::int64_t target) noexcept;

// The same without the means: h = x / s, s = sqrt(mean of squares + eps); dx = (g - h * mean(g * h)) / s.
void rms_norm_backward(const NormBackwardRows<float>& rows, std::int64_t target) noexcept;
void rms_norm_backward(const NormBackwardRows<double>& rows, std::int64_t target) noexcept;

}  // namespace attn::kernels
