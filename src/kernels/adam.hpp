// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace attn::kernels {

// The numbers of a step; autograd::AdamStep says what each is.
template <class T>
struct AdamNumbers {
  T one_minus_beta1, beta2, one_minus_beta2, eps, step_size, root, shrink, decay_grad;
};

// One step of Adam for `count` parameters p with gradients g, means m and mean squares v, in place.
void adam(float* p, const float* g, float* m, float* v, std::ptrdiff_t count, const AdamNumbers<float>& numbers,
          std::int64_t target) noexcept;
void adam(double* p, const double* g, double* m, double* v, std::ptrdiff_t count, const AdamNumbers<double>& numbers,
          std::int64_t target) noexcept;

}  // namespace attn::kernels
