// SPDX-License-Identifier: Apache-2.0
#include "kernels/activation_backward.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/activation_backward.cpp"
// foreach_target.h must come before anything that includes highway.h.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/activation-inl.hpp"
#include "kernels/dispatch.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <Activation kActivation, class T>
HWY_NOINLINE void run(const ActivationBackward<T>& e) {
  const hn::ScalableTag<T> d;
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(d);
  std::ptrdiff_t i = 0;
  for (; i + kLanes <= e.count; i += kLanes) {
    hn::StoreU(hn::Mul(hn::LoadU(d, e.dy + i), derivative<kActivation>(d, hn::LoadU(d, e.x + i))), d, e.dx + i);
  }
  if (i == e.count) return;
  // The rest through vectors of their own: the same operations in every lane.
  alignas(64) T x[kLanes] = {}, dy[kLanes] = {};
  std::copy(e.x + i, e.x + e.count, x);
  std::copy(e.dy + i, e.dy + e.count, dy);
  hn::Store(hn::Mul(hn::Load(d, dy), derivative<kActivation>(d, hn::Load(d, x))), d, dy);
  std::copy(dy, dy + (e.count - i), e.dx + i);
}

template <class T>
void choose(const ActivationBackward<T>& e) {
  switch (e.activation) {
    case Activation::none:
      return run<Activation::none>(e);
    case Activation::gelu:
      return run<Activation::gelu>(e);
    case Activation::gelu_tanh:
      return run<Activation::gelu_tanh>(e);
    case Activation::relu:
      return run<Activation::relu>(e);
    case Activation::silu:
      return run<Activation::silu>(e);
  }
}

void backward_f32(const ActivationBackward<float>& e) { choose(e); }
void backward_f64(const ActivationBackward<double>& e) { choose(e); }

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn::kernels {

HWY_EXPORT(backward_f32);
HWY_EXPORT(backward_f64);

void activation_backward(const ActivationBackward<float>& elements, std::int64_t target) noexcept {
  ATTN_DISPATCH(backward_f32, target)(elements);
}
void activation_backward(const ActivationBackward<double>& elements, std::int64_t target) noexcept {
  ATTN_DISPATCH(backward_f64, target)(elements);
}

}  // namespace attn::kernels
#endif
