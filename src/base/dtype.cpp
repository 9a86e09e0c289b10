// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/dtype.hpp>
#include <cmath>

#include "base/convert.hpp"

namespace attn {
namespace {

// Rounds a double to a format of `kFraction` fraction bits and smallest normal exponent `kMinExponent`, ties to even,
// in one step: the value is scaled so that one unit in the last place is 1, and the current mode (nearest) rounds it.
template <int kFraction, int kMinExponent>
double round_to_format(double x) {
  if (!std::isfinite(x) || x == 0) return x;
  const int exponent = std::max(std::ilogb(x), kMinExponent);
  return std::ldexp(std::nearbyint(std::ldexp(x, kFraction - exponent)), exponent - kFraction);
}

}  // namespace

float to_float(bf16 x) noexcept { return base::widen(x); }
float to_float(f16 x) noexcept { return base::widen(x); }
bf16 to_bf16(float x) noexcept { return base::narrow_bf16(x); }
f16 to_f16(float x) noexcept { return base::narrow_f16(x); }

// A double that has been rounded to the target's grid is exact in f32 (or overflows there as it would here).
bf16 to_bf16(double x) noexcept { return base::narrow_bf16(static_cast<float>(round_to_format<7, -126>(x))); }
f16 to_f16(double x) noexcept { return base::narrow_f16(static_cast<float>(round_to_format<10, -14>(x))); }

}  // namespace attn
