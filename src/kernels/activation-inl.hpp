// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set, inside kernels that use it.
#if defined(ATTN_KERNELS_ACTIVATION_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_KERNELS_ACTIVATION_INL_HPP
#undef ATTN_KERNELS_ACTIVATION_INL_HPP
#else
#define ATTN_KERNELS_ACTIVATION_INL_HPP
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <attn/activation.hpp>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class D, class V>
HWY_INLINE V polynomial(D, V, V sum) {
  return sum;
}
// Horner's rule from the highest coefficient down.
template <class D, class V, class... C>
HWY_INLINE V polynomial(D d, V x, V sum, double next, C... rest) {
  return polynomial(d, x, hn::MulAdd(sum, x, hn::Set(d, static_cast<hn::TFromD<D>>(next))), rest...);
}

// erf to about one unit in the last place of f32: x P(x^2) below 1, 1 - exp(Q(|x|)) above, where Q follows
// log(erfc). Both polynomials are least-maximum fits (error of P 1.2e-9, of the upper part 1.1e-9); from 4 on erf
// rounds to 1.
template <class D, class V = hn::Vec<D>, hwy::EnableIf<sizeof(hn::TFromD<D>) == 4>* = nullptr>
HWY_INLINE V erf(D d, V x) {
  const V magnitude = hn::Min(hn::Abs(x), hn::Set(d, 4.0f));
  const V square = hn::Mul(x, x);
  const V lower =
      hn::Mul(x, polynomial(d, square, hn::Set(d, 7.889122935011983e-05f), -0.0008020842215046287, 0.005189535673707724,
                            -0.026854444295167923, 0.11283600330352783, -0.3761262595653534, 1.1283791065216064));
  const V exponent =
      polynomial(d, magnitude, hn::Set(d, 0.00018557386647444218f), -0.002939605852589011, 0.021805312484502792,
                 -0.10303735733032227, -0.6382256746292114, -1.1270400285720825, -0.00035372094134800136);
  const V upper = hn::Sub(hn::Set(d, 1.0f), hn::Exp(d, exponent));
  return hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, 1.0f)), lower, hn::CopySign(upper, x));
}

template <class D, class V = hn::Vec<D>, hwy::EnableIf<sizeof(hn::TFromD<D>) == 8>* = nullptr>
HWY_INLINE V erf(D d, V x) {
  alignas(64) double lanes[hn::MaxLanes(d)];
  hn::Store(x, d, lanes);
  for (double& lane : lanes) lane = std::erf(lane);
  return hn::Load(d, lanes);
}

// x / (1 + exp(-z)). At `limit` exp is infinite and the quotient 0, however large x is; Highway's exp is not made for
// numbers far beyond. A NaN in z comes with one in x.
template <class D, class V>
HWY_INLINE V times_sigmoid(D d, V x, V z) {
  using T = hn::TFromD<D>;
  const V limit = hn::Set(d, static_cast<T>(sizeof(T) == 4 ? 89 : 710));
  return hn::Div(x, hn::Add(hn::Set(d, T{1}), hn::Exp(d, hn::Min(hn::Neg(z), limit))));
}

template <Activation kActivation, class D, class V>
HWY_INLINE V activate(D d, V x) {
  using T = hn::TFromD<D>;
  if constexpr (kActivation == Activation::gelu) {
    const V half = hn::Mul(x, hn::Set(d, static_cast<T>(0.5)));
    return hn::MulAdd(half, erf(d, hn::Mul(x, hn::Set(d, static_cast<T>(0.70710678118654752440)))), half);
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
  const V one = hn::Set(d, T{1}), half = hn::Set(d, static_cast<T>(0.5));
  if constexpr (kActivation == Activation::gelu) {
    // Phi(x) + x phi(x), phi the density. Beyond 30 deviations it is 0 or 1 in every type; exp is not made for more.
    const V near = hn::Min(hn::Abs(x), hn::Set(d, T{30}));
    const V density = hn::Mul(hn::Set(d, static_cast<T>(0.39894228040143267794)),
                              hn::Exp(d, hn::Max(hn::Mul(hn::Neg(half), hn::Mul(near, near)), hn::Set(d, T{-87}))));
    const V below = hn::MulAdd(half, erf(d, hn::Mul(x, hn::Set(d, static_cast<T>(0.70710678118654752440)))), half);
    return hn::MulAdd(x, density, below);
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
