// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set, inside kernels that use it.
#if defined(ATTN_KERNELS_EXP_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_KERNELS_EXP_INL_HPP
#undef ATTN_KERNELS_EXP_INL_HPP
#else
#define ATTN_KERNELS_EXP_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/unroll.hpp"

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Constants of 2^x = 2^n * 2^f, n = round(x), |f| <= 1/2: the coefficients of f, f^2, ... of the polynomial 1 + f *
// (...) whose relative error is least (Remez's exchange, computed for this interval), highest first.
template <class T>
struct Exp2Constants;
template <>
struct Exp2Constants<float> {
  static constexpr float kRound = 0x1.8p23f;  // adding it leaves a number rounded to an integer in the low bits
  static constexpr float kSmallest = -126;    // below, the result would be subnormal and is 0
  static constexpr int kFractionBits = 23, kBias = 127;
  // Error 2.6e-9, a fiftieth of a unit in the last place.
  static constexpr float kTail[] = {1.559467816e-4f, 1.340664390e-3f, 9.617692973e-3f,
                                    5.550310551e-2f, 2.402265278e-1f, 6.931472150e-1f};
};
template <>
struct Exp2Constants<double> {
  static constexpr double kRound = 0x1.8p52;
  static constexpr double kSmallest = -1022;
  static constexpr int kFractionBits = 52, kBias = 1023;
  // Error 5.7e-20.
  static constexpr double kTail[] = {2.585523844459054881e-11, 4.457239313740301754e-10, 7.054814836763027887e-9,
                                     1.017804753118067783e-7,  1.321548700340765072e-6,  1.525273386484509923e-5,
                                     1.540353039317183466e-4,  1.333355814638173815e-3,  9.618129107628561243e-3,
                                     5.550410866482173375e-2,  2.402265069591007114e-1,  6.931471805599453080e-1};
};

// 2^x for x below the largest exponent, of -inf (exactly 0) and of NaN (NaN); a power of two exactly where x is an
// integer. At most 2 ulp; results that would be subnormal are 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp2_bounded(D d, V x) {
  using T = hn::TFromD<D>;
  using C = Exp2Constants<T>;
  const hn::RebindToSigned<D> di;
  const V shifted = hn::Add(x, hn::Set(d, C::kRound));
  const V f = hn::Sub(x, hn::Sub(shifted, hn::Set(d, C::kRound)));
  V fraction = hn::Set(d, C::kTail[0]);
  ATTN_UNROLL for (std::size_t i = 1; i < sizeof(C::kTail) / sizeof(T); ++i) {
    fraction = hn::MulAdd(fraction, f, hn::Set(d, C::kTail[i]));
  }
  fraction = hn::MulAdd(fraction, f, hn::Set(d, T{1}));
  // The low bits of `shifted` hold n; as a biased exponent they make 2^n. Multiplying (rather than adding to the
  // exponent bits) keeps a NaN a NaN.
  const auto exponent = hn::Add(hn::BitCast(di, shifted), hn::Set(di, C::kBias));
  const V power = hn::BitCast(d, hn::ShiftLeft<C::kFractionBits>(exponent));
  const V result = hn::Mul(fraction, power);
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, C::kSmallest)), result);
}

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
