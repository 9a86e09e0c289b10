// SPDX-License-Identifier: Apache-2.0
// The plain twin of kernels/matmul.hpp, in f64.
#pragma once

#include <attn/view.hpp>

namespace attn::kernels::reference {

// a (M, K), w (N, K), c (M, N):  c[m][n] = sum over k of a[m][k] * w[n][k].
inline void matmul(View<const double, 2> a, View<const double, 2> w, View<double, 2> c) {
  for (std::ptrdiff_t m = 0; m < c.extent(0); ++m) {
    for (std::ptrdiff_t n = 0; n < c.extent(1); ++n) {
      double sum = 0;
      for (std::ptrdiff_t k = 0; k < a.extent(1); ++k) sum += a(m, k) * w(n, k);
      c(m, n) = sum;
    }
  }
}

}  // namespace attn::kernels::reference
