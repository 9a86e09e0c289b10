// SPDX-License-Identifier: Apache-2.0
// The plain twin of kernels/epilogue.hpp, in f64.
#pragma once

#include <attn/activation.hpp>
#include <cmath>
#include <numbers>

namespace attn::kernels::reference {

inline double activate(Activation activation, double x) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::gelu:
      return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
    case Activation::gelu_tanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case Activation::relu:
      return x < 0 ? 0 : x;
    case Activation::silu:
      return x / (1 + std::exp(-x));
  }
  return x;
}

// y = activation(x + bias) + residual, for one element.
inline double finish(Activation activation, double x, double bias, double residual) {
  return activate(activation, x + bias) + residual;
}

}  // namespace attn::kernels::reference
