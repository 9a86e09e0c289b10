// SPDX-License-Identifier: Apache-2.0
#include "kernels/epilogue.hpp"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/epilogue.cpp"
// foreach_target.h must come before anything that includes highway.h.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
#include <hwy/contrib/math/math-inl.h>

#include "kernels/dispatch.hpp"
// clang-format on

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

template <Activation kActivation, class D, class V, class T = hn::TFromD<D>>
HWY_INLINE V finish(D d, V x, const T* bias, const T* residual) {
  if (bias != nullptr) x = hn::Add(x, hn::LoadU(d, bias));
  x = activate<kActivation>(d, x);
  return residual == nullptr ? x : hn::Add(x, hn::LoadU(d, residual));
}

// The columns after the last whole vector, through a vector of their own: the same operations in every lane.
template <Activation kActivation, class D, class T = hn::TFromD<D>>
HWY_INLINE void finish_tail(D d, std::ptrdiff_t count, const T* x, const T* bias, const T* residual, T* y) {
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  alignas(64) T lanes[3][kLanes] = {};
  std::copy(x, x + count, lanes[0]);
  if (bias != nullptr) std::copy(bias, bias + count, lanes[1]);
  if (residual != nullptr) std::copy(residual, residual + count, lanes[2]);
  const auto result = finish<kActivation>(d, hn::Load(d, lanes[0]), bias != nullptr ? lanes[1] : nullptr,
                                          residual != nullptr ? lanes[2] : nullptr);
  hn::Store(result, d, lanes[0]);
  std::copy(lanes[0], lanes[0] + count, y);
}

template <Activation kActivation, class T>
HWY_NOINLINE void finish_rows(const Epilogue<T>& e) {
  const hn::ScalableTag<T> d;
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(d);
  for (std::ptrdiff_t r = 0; r < e.rows; ++r) {
    const T* x = e.x + r * e.x_row;
    const T* residual = e.residual != nullptr ? e.residual + r * e.residual_row : nullptr;
    T* y = e.y + r * e.y_row;
    std::ptrdiff_t c = 0;
    for (; c + kLanes <= e.columns; c += kLanes) {
      const auto result = finish<kActivation>(d, hn::LoadU(d, x + c), e.bias != nullptr ? e.bias + c : nullptr,
                                              residual != nullptr ? residual + c : nullptr);
      hn::StoreU(result, d, y + c);
    }
    if (c < e.columns) {
      finish_tail<kActivation>(d, e.columns - c, x + c, e.bias != nullptr ? e.bias + c : nullptr,
                               residual != nullptr ? residual + c : nullptr, y + c);
    }
  }
}

template <class T>
void finish_block(const Epilogue<T>& e) {
  switch (e.activation) {
    case Activation::none:
      return finish_rows<Activation::none>(e);
    case Activation::gelu:
      return finish_rows<Activation::gelu>(e);
    case Activation::gelu_tanh:
      return finish_rows<Activation::gelu_tanh>(e);
    case Activation::relu:
      return finish_rows<Activation::relu>(e);
    case Activation::silu:
      return finish_rows<Activation::silu>(e);
  }
}

void epilogue_f32(const Epilogue<float>& e) { finish_block(e); }
void epilogue_f64(const Epilogue<double>& e) { finish_block(e); }

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn::kernels {

HWY_EXPORT(epilogue_f32);
HWY_EXPORT(epilogue_f64);

void apply_epilogue(const Epilogue<float>& epilogue, std::int64_t target) noexcept {
  ATTN_DISPATCH(epilogue_f32, target)(epilogue);
}
void apply_epilogue(const Epilogue<double>& epilogue, std::int64_t target) noexcept {
  ATTN_DISPATCH(epilogue_f64, target)(epilogue);
}

}  // namespace attn::kernels
#endif
