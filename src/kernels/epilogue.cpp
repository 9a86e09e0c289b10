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

// What is added to or multiplied with columns from one on; null as in Epilogue.
template <class T>
struct Operands {
  const T *scale, *bias, *residual;
};

template <class T>
HWY_INLINE Operands<T> operands_at(const Epilogue<T>& e, std::ptrdiff_t row, std::ptrdiff_t column) {
  return {e.scale != nullptr ? e.scale + column : nullptr, e.bias != nullptr ? e.bias + column : nullptr,
          e.residual != nullptr ? e.residual + row * e.residual_row + column : nullptr};
}

template <Activation kActivation, class D, class V, class T = hn::TFromD<D>>
HWY_INLINE V finish(D d, V x, const Operands<T>& with) {
  if (with.scale != nullptr) x = hn::Mul(x, hn::LoadU(d, with.scale));
  if (with.bias != nullptr) x = hn::Add(x, hn::LoadU(d, with.bias));
  x = activate<kActivation>(d, x);
  return with.residual == nullptr ? x : hn::Add(x, hn::LoadU(d, with.residual));
}

// The columns after the last whole vector, through a vector of their own: the same operations in every lane.
template <Activation kActivation, class D, class T = hn::TFromD<D>>
HWY_INLINE void finish_tail(D d, std::ptrdiff_t count, const T* x, const Operands<T>& with, T* y) {
  constexpr std::size_t kLanes = hn::MaxLanes(d);
  alignas(64) T lanes[4][kLanes] = {};
  const auto padded = [&](const T* from, std::size_t i) -> const T* {
    if (from == nullptr) return nullptr;
    std::copy(from, from + count, lanes[i]);
    return lanes[i];
  };
  const Operands<T> copies{padded(with.scale, 1), padded(with.bias, 2), padded(with.residual, 3)};
  const auto result = finish<kActivation>(d, hn::Load(d, padded(x, 0)), copies);
  hn::Store(result, d, lanes[0]);
  std::copy(lanes[0], lanes[0] + count, y);
}

template <Activation kActivation, class T>
HWY_NOINLINE void finish_rows(const Epilogue<T>& e) {
  const hn::ScalableTag<T> d;
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(d);
  for (std::ptrdiff_t r = 0; r < e.rows; ++r) {
    const T* x = e.x + r * e.x_row;
    T* y = e.y + r * e.y_row;
    std::ptrdiff_t c = 0;
    for (; c + kLanes <= e.columns; c += kLanes) {
      hn::StoreU(finish<kActivation>(d, hn::LoadU(d, x + c), operands_at(e, r, c)), d, y + c);
    }
    if (c < e.columns) finish_tail<kActivation>(d, e.columns - c, x + c, operands_at(e, r, c), y + c);
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
