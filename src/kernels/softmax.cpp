// SPDX-License-Identifier: Apache-2.0
#include "kernels/softmax.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/softmax.cpp"
// foreach_target.h must come before anything that includes highway.h.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/dispatch.hpp"
#include "kernels/exp-inl.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// The vector at x, with `fill` in the lanes beyond `count`.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_or(D d, const T* x, std::ptrdiff_t count, T fill) {
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(d);
  if (count >= kLanes) return hn::LoadU(d, x);
  alignas(64) T lanes[kLanes];
  std::fill(lanes, lanes + kLanes, fill);
  std::copy(x, x + count, lanes);
  return hn::Load(d, lanes);
}

template <class T>
T log_sum(const T* x, std::ptrdiff_t count) {
  const hn::ScalableTag<T> d;
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(d);
  constexpr T kNothing = -std::numeric_limits<T>::infinity();
  auto top = hn::Set(d, kNothing);
  for (std::ptrdiff_t i = 0; i < count; i += kLanes) top = hn::Max(load_or(d, x + i, count - i, kNothing), top);
  const T most = hn::GetLane(hn::MaxOfLanes(d, top));
  if (most == kNothing) {
    // Max may pass over a NaN.
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      if (std::isnan(x[i])) return x[i];
    }
    return kNothing;
  }
  auto sum = hn::Zero(d);
  const auto shift = hn::Set(d, most);
  for (std::ptrdiff_t i = 0; i < count; i += kLanes) {
    sum = hn::Add(sum, exp_non_positive(d, hn::Sub(load_or(d, x + i, count - i, kNothing), shift)));
  }
  return most + std::log(hn::GetLane(hn::SumOfLanes(d, sum)));
}

template <class T>
void exp_row(const T* x, T shift, std::ptrdiff_t count, T* y) {
  const hn::ScalableTag<T> d;
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(d);
  if (shift == -std::numeric_limits<T>::infinity()) {
    std::fill(y, y + count, T{0});
    return;
  }
  const auto s = hn::Set(d, shift);
  for (std::ptrdiff_t i = 0; i < count; i += kLanes) {
    const auto e = exp_non_positive(d, hn::Sub(load_or(d, x + i, count - i, T{0}), s));
    if (count - i >= kLanes) {
      hn::StoreU(e, d, y + i);
    } else {
      alignas(64) T lanes[kLanes];
      hn::Store(e, d, lanes);
      std::copy(lanes, lanes + (count - i), y + i);
    }
  }
}

float log_sum_f32(const float* x, std::ptrdiff_t count) { return log_sum(x, count); }
double log_sum_f64(const double* x, std::ptrdiff_t count) { return log_sum(x, count); }
void exp_f32(const float* x, float shift, std::ptrdiff_t count, float* y) { exp_row(x, shift, count, y); }
void exp_f64(const double* x, double shift, std::ptrdiff_t count, double* y) { exp_row(x, shift, count, y); }

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn::kernels {

HWY_EXPORT(log_sum_f32);
HWY_EXPORT(log_sum_f64);
HWY_EXPORT(exp_f32);
HWY_EXPORT(exp_f64);

float log_sum_exp(const float* x, std::ptrdiff_t count, std::int64_t target) noexcept {
  return ATTN_DISPATCH(log_sum_f32, target)(x, count);
}
double log_sum_exp(const double* x, std::ptrdiff_t count, std::int64_t target) noexcept {
  return ATTN_DISPATCH(log_sum_f64, target)(x, count);
}
void exp_below(const float* x, float shift, std::ptrdiff_t count, float* y, std::int64_t target) noexcept {
  ATTN_DISPATCH(exp_f32, target)(x, shift, count, y);
}
void exp_below(const double* x, double shift, std::ptrdiff_t count, double* y, std::int64_t target) noexcept {
  ATTN_DISPATCH(exp_f64, target)(x, shift, count, y);
}

}  // namespace attn::kernels
#endif
