// SPDX-License-Identifier: Apache-2.0
#include <attn/dtype.hpp>
#include <bit>
#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace attn {
namespace {

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }

// The nearest representable value by search over all of them: slow, and independent of the bit tricks it checks.
template <class T, class Narrow>
void expect_nearest(Narrow narrow) {
  for (std::uint32_t b = 0; b < 0x10000; ++b) {
    const float here = to_float(T{static_cast<std::uint16_t>(b)});
    if (!std::isfinite(here)) continue;
    EXPECT_EQ(bits(to_float(narrow(here))), bits(here)) << b;  // exact values stay, the sign of zero included
    const float next = to_float(T{static_cast<std::uint16_t>(b + 1)});
    if (!std::isfinite(next) || std::signbit(next) != std::signbit(here)) continue;
    const double middle = (static_cast<double>(here) + static_cast<double>(next)) / 2;
    const std::uint16_t even = static_cast<std::uint16_t>(b % 2 == 0 ? b : b + 1);
    EXPECT_EQ(narrow(static_cast<float>(middle)).bits, even) << b;
    EXPECT_EQ(narrow(std::nextafter(middle, here)).bits, b) << b;  // a double, so near that f32 would round it away
    EXPECT_EQ(narrow(std::nextafter(middle, next)).bits, b + 1) << b;
  }
}

TEST(DType, Bf16RoundsToNearestEven) {
  expect_nearest<bf16>([](auto x) { return to_bf16(x); });
}
TEST(DType, F16RoundsToNearestEven) {
  expect_nearest<f16>([](auto x) { return to_f16(x); });
}

TEST(DType, SpecialValues) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(to_f16(inf).bits, 0x7c00);
  EXPECT_EQ(to_f16(-inf).bits, 0xfc00);
  EXPECT_EQ(to_f16(65519.996f).bits, 0x7bff);
  EXPECT_EQ(to_f16(65520.0f).bits, 0x7c00);
  EXPECT_EQ(to_f16(1e300).bits, 0x7c00);
  EXPECT_EQ(to_bf16(inf).bits, 0x7f80);
  EXPECT_EQ(to_bf16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_EQ(to_bf16(-1e300).bits, 0xff80);
  EXPECT_TRUE(std::isnan(to_float(to_f16(nan))));
  EXPECT_TRUE(std::isnan(to_float(to_bf16(nan))));
  EXPECT_TRUE(std::isnan(to_float(to_bf16(std::bit_cast<float>(0x7f800001u)))));  // payload in the dropped bits only
  EXPECT_TRUE(std::isnan(to_float(to_f16(std::bit_cast<float>(0x7f800001u)))));
  EXPECT_EQ(to_float(f16{0x0001}), 0x1p-24f);
  EXPECT_EQ(to_f16(0x1p-25f).bits, 0);  // half of the smallest subnormal, to even
  EXPECT_EQ(to_f16(std::nextafter(0x1p-25f, 1.0f)).bits, 1);
}

TEST(DType, NamesAndSizes) {
  EXPECT_EQ(name_of(DType::bf16), "bf16");
  EXPECT_EQ(size_of(DType::f16), 2u);
  EXPECT_EQ(size_of(DType::i64), 8u);
  EXPECT_EQ(size_of(DType::none), 0u);
  EXPECT_TRUE(is_floating(DType::f16));
  EXPECT_FALSE(is_floating(DType::i32));
}

}  // namespace
}  // namespace attn
