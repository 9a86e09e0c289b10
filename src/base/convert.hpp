// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/dtype.hpp>
#include <bit>
#include <cstdint>

namespace attn::base {

inline float widen(bf16 x) noexcept { return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16); }

inline float widen(f16 x) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(x.bits & 0x8000u) << 16;
  const std::uint32_t magnitude = x.bits & 0x7fffu;
  if (magnitude >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
  if (magnitude >= 0x0400u) return std::bit_cast<float>(sign | (magnitude + (112u << 10)) << 13);
  const float subnormal = static_cast<float>(magnitude) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(subnormal));
}

inline bf16 narrow_bf16(float x) noexcept {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {static_cast<std::uint16_t>(bits >> 16 | 0x40u)};
  return {static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)};
}

inline f16 narrow_f16(float x) noexcept {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint16_t sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  const auto with_sign = [sign](std::uint32_t m) { return f16{static_cast<std::uint16_t>(sign | m)}; };
  if (magnitude > 0x7f800000u) return with_sign(0x7e00u | (magnitude >> 13 & 0x3ffu));
  if (magnitude >= 0x477ff000u) return with_sign(0x7c00u);  // from 65520 on, half way to the next power of two
  if (magnitude < 0x38800000u) {  // Subnormal: adding 0.5 leaves the fraction, rounded to 2^-24, in the low bits.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return with_sign(std::bit_cast<std::uint32_t>(shifted) - 0x3f000000u);
  }
  const std::uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
  return with_sign((rounded - 0x38000000u) >> 13);
}

// One element of any of the four number types, widened exactly, as the type the caller computes in.
template <class To>
To load_as(DType t, const void* data, std::ptrdiff_t at) noexcept {
  switch (t) {
    case DType::f32:
      return static_cast<To>(static_cast<const float*>(data)[at]);
    case DType::f64:
      return static_cast<To>(static_cast<const double*>(data)[at]);
    case DType::bf16:
      return static_cast<To>(widen(static_cast<const bf16*>(data)[at]));
    case DType::f16:
      return static_cast<To>(widen(static_cast<const f16*>(data)[at]));
    default:
      return To{};
  }
}

// Stores one number as `t`, rounded once.
template <class From>
void store_as(DType t, void* data, std::ptrdiff_t at, From x) noexcept {
  switch (t) {
    case DType::f32:
      static_cast<float*>(data)[at] = static_cast<float>(x);
      break;
    case DType::f64:
      static_cast<double*>(data)[at] = static_cast<double>(x);
      break;
    case DType::bf16:
      static_cast<bf16*>(data)[at] = to_bf16(x);
      break;
    case DType::f16:
      static_cast<f16*>(data)[at] = to_f16(x);
      break;
    default:
      break;
  }
}

}  // namespace attn::base
