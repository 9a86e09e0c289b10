// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace attn {

// The non-linearity after a projection. A NaN stays a NaN in each.
enum class Activation : std::uint8_t {
  none,       // x
  gelu,       // x * Phi(x), Phi the normal distribution by erf (Hendrycks & Gimpel 2016, section 2)
  gelu_tanh,  // the same by its approximation 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
  relu,       // max(x, 0)
  silu,       // x / (1 + exp(-x)), also called swish
};

}  // namespace attn
