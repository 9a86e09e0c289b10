// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/activation.hpp>
#include <cstddef>
#include <cstdint>

namespace attn::kernels {

// dx = dy * activation'(x), element by element.
template <class T>
struct ActivationBackward {
  const T* x;
  const T* dy;
  T* dx;  // may be dy
  std::ptrdiff_t count;
  Activation activation;
};

void activation_backward(const ActivationBackward<float>& elements, std::int64_t target) noexcept;
void activation_backward(const ActivationBackward<double>& elements, std::int64_t target) noexcept;

}  // namespace attn::kernels
