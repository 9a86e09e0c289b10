// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/activation.hpp>
#include <cstddef>
#include <cstdint>

namespace attn::kernels {

// What follows a matrix product, done while its block is still in the cache: y = activation(x + bias) + residual.
template <class T>
struct Epilogue {
  const T* x;  // (rows, columns), columns side by side
  std::ptrdiff_t x_row;
  T* y;  // may be x
  std::ptrdiff_t y_row;
  const T* bias;      // (columns), or null
  const T* residual;  // (rows, columns), or null; may be y
  std::ptrdiff_t residual_row;
  std::ptrdiff_t rows, columns;
  Activation activation;
};

// The erf form of GELU is within 3e-7 of the exact value for |x| <= 5 in f32 (one rounding of erf, times x), within
// 1e-15 in f64; the others are within a few units in the last place.
void apply_epilogue(const Epilogue<float>& epilogue, std::int64_t target) noexcept;
void apply_epilogue(const Epilogue<double>& epilogue, std::int64_t target) noexcept;

}  // namespace attn::kernels
