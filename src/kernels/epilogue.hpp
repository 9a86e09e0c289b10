// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/activation.hpp>
#include <cstddef>
#include <cstdint>

namespace attn::kernels {

// What follows a matrix product, done while its block is still in the cache: y = activation(x * scale + bias) +
// residual.
template <class T>
struct Epilogue {
  const T* x;  // (rows, columns), columns side by side
  std::ptrdiff_t x_row;
  T* y;  // may be x
  std::ptrdiff_t y_row;
  const T* scale;     // (columns), or null: 1
  const T* bias;      // (columns), or null: 0
  const T* residual;  // (rows, columns), or null: 0; may be y
  std::ptrdiff_t residual_row;
  std::ptrdiff_t rows, columns;
  Activation activation;
};

// In f32, GELU in its erf form is within 1e-7 max(1, |x|) of the exact value (4 units in the last place for x >= -1),
// the others within a few units in the last place; in f64 all are within 1e-15 max(1, |x|).
void apply_epilogue(const Epilogue<float>& epilogue, std::int64_t target) noexcept;
void apply_epilogue(const Epilogue<double>& epilogue, std::int64_t target) noexcept;

}  // namespace attn::kernels
