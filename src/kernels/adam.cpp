// SPDX-License-Identifier: Apache-2.0
#include "kernels/adam.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/adam.cpp"
// foreach_target.h must come before anything that includes highway.h.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/dispatch.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class D, class T = hn::TFromD<D>>
HWY_INLINE void step(D d, T* p, const T* g, T* m, T* v, const AdamNumbers<T>& n) {
  const auto parameter = hn::LoadU(d, p);
  const auto grad = hn::MulAdd(hn::Set(d, n.decay_grad), parameter, hn::LoadU(d, g));
  const auto old_mean = hn::LoadU(d, m);
  const auto mean = hn::MulAdd(hn::Set(d, n.one_minus_beta1), hn::Sub(grad, old_mean), old_mean);
  const auto square =
      hn::MulAdd(hn::Mul(hn::Set(d, n.one_minus_beta2), grad), grad, hn::Mul(hn::Set(d, n.beta2), hn::LoadU(d, v)));
  const auto root = hn::Add(hn::Div(hn::Sqrt(square), hn::Set(d, n.root)), hn::Set(d, n.eps));
  const auto shrunk = hn::Mul(parameter, hn::Set(d, n.shrink));
  hn::StoreU(mean, d, m);
  hn::StoreU(square, d, v);
  hn::StoreU(hn::NegMulAdd(hn::Set(d, n.step_size), hn::Div(mean, root), shrunk), d, p);
}

template <class T>
void run(T* p, const T* g, T* m, T* v, std::ptrdiff_t count, const AdamNumbers<T>& n) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(d);
  std::ptrdiff_t i = 0;
  for (; i + kLanes <= count; i += kLanes) step(d, p + i, g + i, m + i, v + i, n);
  for (; i < count; ++i) step(one, p + i, g + i, m + i, v + i, n);
}

void adam_f32(float* p, const float* g, float* m, float* v, std::ptrdiff_t count, const AdamNumbers<float>& n) {
  run(p, g, m, v, count, n);
}
void adam_f64(double* p, const double* g, double* m, double* v, std::ptrdiff_t count, const AdamNumbers<double>& n) {
  run(p, g, m, v, count, n);
}

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn::kernels {

HWY_EXPORT(adam_f32);
HWY_EXPORT(adam_f64);

void adam(float* p, const float* g, float* m, float* v, std::ptrdiff_t count, const AdamNumbers<float>& numbers,
          std::int64_t target) noexcept {
  ATTN_DISPATCH(adam_f32, target)(p, g, m, v, count, numbers);
}
void adam(double* p, const double* g, double* m, double* v, std::ptrdiff_t count, const AdamNumbers<double>& numbers,
          std::int64_t target) noexcept {
  ATTN_DISPATCH(adam_f64, target)(p, g, m, v, count, numbers);
}

}  // namespace attn::kernels
#endif
