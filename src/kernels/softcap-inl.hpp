// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set, inside kernels that use it.
#if defined(ATTN_KERNELS_SOFTCAP_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_KERNELS_SOFTCAP_INL_HPP
#undef ATTN_KERNELS_SOFTCAP_INL_HPP
#else
#define ATTN_KERNELS_SOFTCAP_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>

#include "kernels/exp-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// s = unit * cap * tanh(s / cap), with tanh(x) = sign(x) * (1 - e) / (1 + e), e = exp(-2 |x|); near 0, where that
// cancels, its odd Taylor series.
template <class D, class T = hn::TFromD<D>>
void softcap_row(D d, T cap, T unit, std::ptrdiff_t count, T* s) {
  using V = hn::Vec<D>;
  const V one = hn::Set(d, T{1}), inverse = hn::Set(d, T{1} / cap), top = hn::Set(d, cap * unit);
  const V minus_2_log2e = hn::Set(d, static_cast<T>(-2.8853900817779268));
  // Below this the series' first term left out, 0.0036 x^13, is under half a unit in the last place.
  const V near = hn::Set(d, sizeof(T) == 8 ? T(0.07) : T(0.35));
  for (std::ptrdiff_t i = 0; i < count; i += static_cast<std::ptrdiff_t>(hn::Lanes(d))) {
    const V x = hn::Mul(hn::Load(d, s + i), inverse), magnitude = hn::Abs(x);
    const V e = exp2_bounded(d, hn::Mul(minus_2_log2e, magnitude));
    const V far_value = hn::CopySign(hn::Div(hn::Sub(one, e), hn::Add(one, e)), x);
    const V x2 = hn::Mul(x, x);
    V series = hn::Set(d, T(-1382.0 / 155925.0));
    series = hn::MulAdd(series, x2, hn::Set(d, T(62.0 / 2835.0)));
    series = hn::MulAdd(series, x2, hn::Set(d, T(-17.0 / 315.0)));
    series = hn::MulAdd(series, x2, hn::Set(d, T(2.0 / 15.0)));
    series = hn::MulAdd(series, x2, hn::Set(d, T(-1.0 / 3.0)));
    const V near_value = hn::MulAdd(hn::Mul(x, x2), series, x);
    const V capped = hn::IfThenElse(hn::Lt(magnitude, near), near_value, far_value);
    hn::Store(hn::Mul(capped, top), d, s + i);
  }
}

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
