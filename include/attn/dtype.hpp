// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/export.hpp>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <type_traits>

namespace attn {

// The type of one stored element. `none` says that a tensor is not wanted or not given.
enum class DType : std::uint8_t { none, f32, f64, bf16, f16, i8, u8, boolean, i32, i64 };

// Storage of a bfloat16 (1 sign, 8 exponent, 7 fraction bits). Arithmetic is done in f32.
struct bf16 {
  std::uint16_t bits;
};

// Storage of an IEEE 754 binary16 (1 sign, 5 exponent, 10 fraction bits). Arithmetic is done in f32.
struct f16 {
  std::uint16_t bits;
};

// Exact widening; NaN payloads are kept.
ATTN_API float to_float(bf16 x) noexcept;
ATTN_API float to_float(f16 x) noexcept;
// Round to nearest, ties to even; NaN stays a quiet NaN; overflow gives infinity; f16 keeps subnormals.
ATTN_API bf16 to_bf16(float x) noexcept;
ATTN_API f16 to_f16(float x) noexcept;
// From double in one rounding (rounding through f32 first could round twice).
ATTN_API bf16 to_bf16(double x) noexcept;
ATTN_API f16 to_f16(double x) noexcept;

// The DType of a C++ type. Specialise it for a foreign type with the same bits (Eigen::bfloat16, ...):
//   template <> inline constexpr attn::DType attn::dtype_of<Eigen::bfloat16> = attn::DType::bf16;
template <class T>
inline constexpr DType dtype_of = DType::none;
template <>
inline constexpr DType dtype_of<float> = DType::f32;
template <>
inline constexpr DType dtype_of<double> = DType::f64;
template <>
inline constexpr DType dtype_of<bf16> = DType::bf16;
template <>
inline constexpr DType dtype_of<f16> = DType::f16;
template <>
inline constexpr DType dtype_of<std::int8_t> = DType::i8;
template <>
inline constexpr DType dtype_of<std::uint8_t> = DType::u8;
template <>
inline constexpr DType dtype_of<bool> = DType::boolean;
template <>
inline constexpr DType dtype_of<std::int32_t> = DType::i32;
template <>
inline constexpr DType dtype_of<std::int64_t> = DType::i64;

template <class T>
concept Element = dtype_of<std::remove_const_t<T>>
!= DType::none;

// Bytes of one element; 0 for `none`.
constexpr std::size_t size_of(DType t) noexcept {
  switch (t) {
    case DType::none:
      return 0;
    case DType::i8:
    case DType::u8:
    case DType::boolean:
      return 1;
    case DType::bf16:
    case DType::f16:
      return 2;
    case DType::f32:
    case DType::i32:
      return 4;
    case DType::f64:
    case DType::i64:
      return 8;
  }
  return 0;
}

// f32, f64, bf16 or f16.
constexpr bool is_floating(DType t) noexcept {
  return t == DType::f32 || t == DType::f64 || t == DType::bf16 || t == DType::f16;
}

// "f32", "bf16", "boolean", ...; "unknown" for a number that no dtype has.
constexpr std::string_view name_of(DType t) noexcept {
  constexpr std::string_view kNames[] = {"none", "f32", "f64", "bf16", "f16", "i8", "u8", "boolean", "i32", "i64"};
  return static_cast<std::size_t>(t) < std::size(kNames) ? kNames[static_cast<std::size_t>(t)] : "unknown";
}

// Reads raw 16-bit storage as bf16 or f16: bits_as<attn::bf16>(p).
template <Element To>
To* bits_as(std::uint16_t* p) requires(sizeof(To) == 2) {
  return reinterpret_cast<To*>(p);
}
template <Element To>
const To* bits_as(const std::uint16_t* p) requires(sizeof(To) == 2) {
  return reinterpret_cast<const To*>(p);
}

}  // namespace attn
