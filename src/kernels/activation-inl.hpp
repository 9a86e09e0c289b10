// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set, inside kernels that use it.
#if defined(ATTN_KERNELS_ACTIVATION_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_KERNELS_ACTIVATION_INL_HPP
#undef ATTN_KERNELS_ACTIVATION_INL_HPP
#else
#define ATTN_KERNELS_ACTIVATION_INL_HPP
#endif

#include <hwy/highway.h>

#include <attn/activation.hpp>
#include <cmath>
#include <cstddef>

#include "kernels/exp-inl.hpp"
#include "kernels/unroll.hpp"

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// 0.5 erfc(a / sqrt(2)), the normal distribution's tail, for 0 <= a <= kTailEnd in f32: its logarithm to base 2 is
// smooth, and here a polynomial that is fitted so that the tail's error is least, relative to 1 up to where the tail
// is 1e-3 and relative to the tail beyond (at most 4e-8 of either).
constexpr float kTailEnd = 5.75f;
template <class D, class V = hn::Vec<D>>
HWY_INLINE V normal_tail(D d, V a) {
  constexpr float kLog2[] = {1.9790142857e-7f,  -4.7435878514e-6f, 4.5232940465e-5f,  -1.8884068413e-4f,
                             -1.5678221826e-4f, 7.1050561965e-3f,  -5.2529416978e-2f, -4.5919677615e-1f,
                             -1.1511065960f,    -0.99999994040f};
  V log2 = hn::Set(d, kLog2[0]);
  ATTN_UNROLL for (std::size_t i = 1; i < sizeof(kLog2) / sizeof(float); ++i) {
    log2 = hn::MulAdd(log2, a, hn::Set(d, kLog2[i]));
  }
  return exp2_bounded(d, log2);
}

// x / 2 (1 + erf(x / sqrt(2))) = max(x, 0) - |x| 0.5 erfc(|x| / sqrt(2)): nothing cancels, and one form serves all x.
template <class D, class V = hn::Vec<D>, hwy::EnableIf<sizeof(hn::TFromD<D>) == 4>* = nullptr>
HWY_INLINE V gelu(D d, V x) {
  const V end = hn::Set(d, kTailEnd), magnitude = hn::Abs(x), near = hn::Min(magnitude, end);
  const V positive = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Zero(d), x);  // Max would lose a NaN.
  const V rest = hn::Mul(near, normal_tail(d, near));
  return hn::Sub(positive, hn::IfThenZeroElse(hn::Gt(magnitude, end), rest));
}

// The normal distribution's share below x.
template <class D, class V = hn::Vec<D>, hwy::EnableIf<sizeof(hn::TFromD<D>) == 4>* = nullptr>
HWY_INLINE V normal_below(D d, V x) {
  const V end = hn::Set(d, kTailEnd), magnitude = hn::Abs(x);
  const V tail = hn::IfThenZeroElse(hn::Gt(magnitude, end), normal_tail(d, hn::Min(magnitude, end)));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(hn::Set(d, 1.0f), tail));
}

// In f64 both by the C library.
template <class D, class V = hn::Vec<D>, hwy::EnableIf<sizeof(hn::TFromD<D>) == 8>* = nullptr>
HWY_INLINE V erf(D d, V x) {
  alignas(64) double lanes[hn::MaxLanes(d)];
  hn::Store(x, d, lanes);
  for (double& lane : lanes) lane = std::erf(lane);
  return hn::Load(d, lanes);
}
template <class D, class V = hn::Vec<D>, hwy::EnableIf<sizeof(hn::TFromD<D>) == 8>* = nullptr>
HWY_INLINE V gelu(D d, V x) {
  const V half = hn::Mul(x, hn::Set(d, 0.5));
  return hn::MulAdd(half, erf(d, hn::Mul(x, hn::Set(d, 0.70710678118654752440))), half);
}
template <class D, class V = hn::Vec<D>, hwy::EnableIf<sizeof(hn::TFromD<D>) == 8>* = nullptr>
HWY_INLINE V normal_below(D d, V x) {
  const V half = hn::Set(d, 0.5);
  return hn::MulAdd(half, erf(d, hn::Mul(x, hn::Set(d, 0.70710678118654752440))), half);
}

// x / (1 + exp(-z)): with e = exp(-|z|), 1 / (1 + e) where z is positive, e / (1 + e) where it is not.
template <class D, class V>
HWY_INLINE V times_sigmoid(D d, V x, V z) {
  using T = hn::TFromD<D>;
  const V one = hn::Set(d, T{1});
  const V e = exp2_bounded(d, hn::Mul(hn::Abs(z), hn::Set(d, static_cast<T>(-1.4426950408889634074))));
  return hn::Div(hn::Mul(x, hn::IfThenElse(hn::Lt(z, hn::Zero(d)), e, one)), hn::Add(one, e));
}

template <Activation kActivation, class D, class V>
HWY_INLINE V activate(D d, V x) {
  using T = hn::TFromD<D>;
  if constexpr (kActivation == Activation::gelu) {
    return gelu(d, x);
  } else if constexpr (kActivation == Activation::gelu_tanh) {
    // (1 + tanh(u)) / 2 = 1 / (1 + exp(-2u)), u = sqrt(2 / pi) (x + 0.044715 x^3).
    const V inner = hn::MulAdd(hn::Mul(x, x), hn::Set(d, static_cast<T>(0.044715)), hn::Set(d, T{1}));
    return times_sigmoid(d, x, hn::Mul(hn::Mul(x, inner), hn::Set(d, static_cast<T>(1.5957691216057307118))));
  } else if constexpr (kActivation == Activation::relu) {
    return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Zero(d), x);  // Max would lose a NaN.
  } else if constexpr (kActivation == Activation::silu) {
    return times_sigmoid(d, x, x);
  } else {
    return x;
  }
}

// The derivative of `activate` at x.
template <Activation kActivation, class D, class V>
HWY_INLINE V derivative(D d, V x) {
  using T = hn::TFromD<D>;
  const V one = hn::Set(d, T{1});
  if constexpr (kActivation == Activation::gelu) {
    // Phi(x) + x phi(x), phi the density, which stays above 0 so that it leaves an infinite x alone.
    const V exponent = hn::Mul(hn::Mul(x, x), hn::Set(d, static_cast<T>(-0.72134752044448170368)));
    const V density = hn::Mul(hn::Set(d, static_cast<T>(0.39894228040143267794)),
                              exp2_bounded(d, hn::Max(exponent, hn::Set(d, T{-126}))));
    return hn::MulAdd(x, density, normal_below(d, x));
  } else if constexpr (kActivation == Activation::gelu_tanh) {
    // y = x s(z), z = 2 sqrt(2 / pi) (x + 0.044715 x^3): y' = s + x s (1 - s) z'.
    const V root = hn::Set(d, static_cast<T>(1.5957691216057307118)), square = hn::Mul(x, x);
    const V z = hn::Mul(root, hn::Mul(x, hn::MulAdd(square, hn::Set(d, static_cast<T>(0.044715)), one)));
    const V slope = hn::Mul(root, hn::MulAdd(square, hn::Set(d, static_cast<T>(0.134145)), one));
    const V s = times_sigmoid(d, one, z);
    return hn::MulAdd(hn::Mul(x, hn::Mul(s, hn::Sub(one, s))), slope, s);
  } else if constexpr (kActivation == Activation::relu) {
    return hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), one);
  } else if constexpr (kActivation == Activation::silu) {
    const V s = times_sigmoid(d, one, x);
    return hn::MulAdd(hn::Mul(x, s), hn::Sub(one, s), s);
  } else {
    return one;
  }
}

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
