// SPDX-License-Identifier: Apache-2.0
// The plain twins of kernels/norm.hpp, in f64, for one row of n numbers.
#pragma once

#include <attn/view.hpp>
#include <cmath>

namespace attn::kernels::reference {

inline void layer_norm(View<const double, 1> x, View<const double, 1> weight, View<const double, 1> bias, double eps,
                       View<double, 1> y) {
  const std::ptrdiff_t n = x.extent(0);
  // 1. The mean.
  double mean = 0;
  for (std::ptrdiff_t i = 0; i < n; ++i) mean += x(i) / static_cast<double>(n);
  // 2. The mean square distance from it.
  double variance = 0;
  for (std::ptrdiff_t i = 0; i < n; ++i) variance += (x(i) - mean) * (x(i) - mean) / static_cast<double>(n);
  // 3. Shift to mean 0, scale to variance 1, then scale and shift as learned.
  for (std::ptrdiff_t i = 0; i < n; ++i) y(i) = (x(i) - mean) / std::sqrt(variance + eps) * weight(i) + bias(i);
}

inline void rms_norm(View<const double, 1> x, View<const double, 1> weight, double eps, View<double, 1> y) {
  const std::ptrdiff_t n = x.extent(0);
  double square = 0;
  for (std::ptrdiff_t i = 0; i < n; ++i) square += x(i) * x(i) / static_cast<double>(n);
  for (std::ptrdiff_t i = 0; i < n; ++i) y(i) = x(i) / std::sqrt(square + eps) * weight(i);
}

}  // namespace attn::kernels::reference
