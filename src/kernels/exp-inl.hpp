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

#if HWY_TARGET <= HWY_AVX3
// 2^x by the set's own two operations: x - floor(x), and p * 2^floor(x). The polynomial is that of the interval [0, 1)
// whose absolute error is least, since there a unit in the last place is the same everywhere; then its coefficients
// were moved to numbers of f32 near them, for the least error as computed: 1.87 ulp.
HWY_INLINE __m512 exp2_by_scaling(__m512 x) {
  constexpr float kTail[] = {0x1.ee38cap-10f, 0x1.260a28p-7f, 0x1.c9686cp-5f, 0x1.ebd538p-3f, 0x1.62e4e2p-1f};
  const __m512 f = _mm512_reduce_ps(x, 1);
  __m512 p = _mm512_set1_ps(kTail[0]);
  ATTN_UNROLL for (int i = 1; i < 5; ++i) p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(kTail[i]));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1));
  const __mmask16 kept = _mm512_cmp_ps_mask(x, _mm512_set1_ps(Exp2Constants<float>::kSmallest), _CMP_NLT_UQ);
  return _mm512_maskz_scalef_ps(kept, p, x);
}
#endif

// 2^x for x below the largest exponent, of -inf (exactly 0) and of NaN (NaN); a power of two exactly where x is an
// integer. At most 2 ulp; results that would be subnormal are 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp2_bounded(D d, V x) {
  using T = hn::TFromD<D>;
  using C = Exp2Constants<T>;
#if HWY_TARGET <= HWY_AVX3
  if constexpr (sizeof(T) == 4 && hn::MaxLanes(D()) == 16) return V{exp2_by_scaling(x.raw)};
#endif
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

// Constants of exp(x) = 2^n * exp(f), n = round(x / ln 2), |f| <= ln(2) / 2 (Cody & Waite 1980, chapter 6): ln 2 in two
// parts, so that n * kLn2High is exact, and the coefficients of (exp(f) - 1 - f) / f^2, highest first.
template <class T>
struct ExpConstants;
template <>
struct ExpConstants<float> {
  static constexpr float kRound = 0x1.8p23f;  // adding it leaves a number rounded to an integer in the low bits
  static constexpr float kLog2e = 1.44269504f, kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  static constexpr float kSmallest = -87.3365402f;  // below, the result would be subnormal and is 0
  static constexpr int kFractionBits = 23, kBias = 127;
  // Cephes' expf (Moshier 1989).
  static constexpr float kTail[] = {1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,
                                    4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f};
};
template <>
struct ExpConstants<double> {
  static constexpr double kRound = 0x1.8p52;
  static constexpr double kLog2e = 1.4426950408889634074, kLn2High = 6.93145751953125e-1,
                          kLn2Low = 1.42860682030941723212e-6;
  static constexpr double kSmallest = -708.39641853226408;
  static constexpr int kFractionBits = 52, kBias = 1023;
  // Taylor's: the first term left out is below 1e-17 at |f| = ln(2) / 2.
  static constexpr double kTail[] = {1.0 / 6227020800.0, 1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0,
                                     1.0 / 362880.0,     1.0 / 40320.0,     1.0 / 5040.0,     1.0 / 720.0,
                                     1.0 / 120.0,        1.0 / 24.0,        1.0 / 6.0,        0.5};
};

// exp of x <= 0, of -inf (exactly 0) and of NaN (NaN); exactly 1 at 0. At most 2 ulp; results that would be subnormal
// are 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_non_positive(D d, V x) {
  using T = hn::TFromD<D>;
  using C = ExpConstants<T>;
  const hn::RebindToSigned<D> di;
  const V shifted = hn::MulAdd(x, hn::Set(d, C::kLog2e), hn::Set(d, C::kRound));
  const V n = hn::Sub(shifted, hn::Set(d, C::kRound));
  const V f = hn::NegMulAdd(n, hn::Set(d, C::kLn2Low), hn::NegMulAdd(n, hn::Set(d, C::kLn2High), x));
  V tail = hn::Set(d, C::kTail[0]);
  for (std::size_t i = 1; i < sizeof(C::kTail) / sizeof(T); ++i) tail = hn::MulAdd(tail, f, hn::Set(d, C::kTail[i]));
  const V fraction = hn::Add(hn::MulAdd(hn::Mul(f, f), tail, f), hn::Set(d, T{1}));
  // The low bits of `shifted` hold n; as a biased exponent they make 2^n. Multiplying (rather than adding to the
  // exponent bits) keeps a NaN a NaN.
  const auto exponent = hn::Add(hn::BitCast(di, shifted), hn::Set(di, C::kBias));
  const V power = hn::BitCast(d, hn::ShiftLeft<C::kFractionBits>(exponent));
  const V result = hn::Mul(fraction, power);
  return hn::IfThenElse(hn::Lt(x, hn::Set(d, C::kSmallest)), hn::Zero(d), result);
}

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
