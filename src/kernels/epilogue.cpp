// SPDX-License-Identifier: Apache-2.0
#include "kernels/epilogue.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/epilogue.cpp"
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
