// SPDX-License-Identifier: Apache-2.0
#include "kernels/norm_backward.hpp"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/norm_backward.cpp"
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

// Calls f(tag, column) for every column: for whole vectors, then for the rest one by one.
template <class T, class F>
HWY_INLINE void for_columns(std::ptrdiff_t columns, const F& f) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(d);
  std::ptrdiff_t c = 0;
  for (; c + kLanes <= columns; c += kLanes) f(d, c);
  for (; c < columns; ++c) f(one, c);
}

// Two sums over the columns, held in a vector and, for the last columns, in a number.
template <class T>
struct Sums {
  using D = hn::ScalableTag<T>;
  hn::Vec<D> a, b;
  T rest_a = 0, rest_b = 0;

  // Written out: an implicit constructor would be compiled for the baseline.
  HWY_INLINE Sums() : a(hn::Zero(D())), b(hn::Zero(D())) {}

  template <class Tag>
  HWY_INLINE void add(Tag, hn::Vec<Tag> x, hn::Vec<Tag> y) {
    if constexpr (hn::MaxLanes(Tag()) == hn::MaxLanes(D())) {
      a = hn::Add(a, x);
      b = hn::Add(b, y);
    } else {
      rest_a += hn::GetLane(x);
      rest_b += hn::GetLane(y);
    }
  }
  HWY_INLINE T sum_a() const { return hn::GetLane(hn::SumOfLanes(D(), a)) + rest_a; }
  HWY_INLINE T sum_b() const { return hn::GetLane(hn::SumOfLanes(D(), b)) + rest_b; }
};

template <bool kCentred, class T>
HWY_INLINE void row_backward(const NormBackwardRows<T>& r, const T* x, const T* dy, T* dx) {
  const T n = static_cast<T>(r.columns);
  T mean = 0;
  if constexpr (kCentred) {
    Sums<T> sums;
    for_columns<T>(r.columns,
                   [&](auto d, std::ptrdiff_t c) HWY_ATTR { sums.add(d, hn::LoadU(d, x + c), hn::Zero(d)); });
    mean = sums.sum_a() / n;
  }
  Sums<T> squares;
  for_columns<T>(r.columns, [&](auto d, std::ptrdiff_t c) HWY_ATTR {
    const auto from_mean = hn::Sub(hn::LoadU(d, x + c), hn::Set(d, mean));
    squares.add(d, hn::Mul(from_mean, from_mean), hn::Zero(d));
  });
  const T inverse = 1 / std::sqrt(squares.sum_a() / n + r.eps);
  Sums<T> sums;
  for_columns<T>(r.columns, [&](auto d, std::ptrdiff_t c) HWY_ATTR {
    const auto h = hn::Mul(hn::Sub(hn::LoadU(d, x + c), hn::Set(d, mean)), hn::Set(d, inverse));
    const auto from = hn::LoadU(d, dy + c);
    const auto g = r.weight != nullptr ? hn::Mul(from, hn::LoadU(d, r.weight + c)) : from;
    sums.add(d, g, hn::Mul(g, h));
    hn::StoreU(hn::MulAdd(from, h, hn::LoadU(d, r.dweight + c)), d, r.dweight + c);
    hn::StoreU(hn::Add(from, hn::LoadU(d, r.dbias + c)), d, r.dbias + c);
  });
  const T mean_g = kCentred ? sums.sum_a() / n : T{0}, mean_gh = sums.sum_b() / n;
  for_columns<T>(r.columns, [&](auto d, std::ptrdiff_t c) HWY_ATTR {
    const auto h = hn::Mul(hn::Sub(hn::LoadU(d, x + c), hn::Set(d, mean)), hn::Set(d, inverse));
    const auto from = hn::LoadU(d, dy + c);
    const auto g = r.weight != nullptr ? hn::Mul(from, hn::LoadU(d, r.weight + c)) : from;
    const auto centred = hn::Sub(g, hn::Set(d, mean_g));
    hn::StoreU(hn::Mul(hn::NegMulAdd(h, hn::Set(d, mean_gh), centred), hn::Set(d, inverse)), d, dx + c);
  });
}

template <bool kCentred, class T>
void backward(const NormBackwardRows<T>& r) {
  for (std::ptrdiff_t row = 0; row < r.rows; ++row) {
    const std::ptrdiff_t at = row * r.columns;
    row_backward<kCentred>(r, r.x + at, r.dy + at, r.dx + at);
  }
}

void layer_f32(const NormBackwardRows<float>& r) { backward<true>(r); }
void layer_f64(const NormBackwardRows<double>& r) { backward<true>(r); }
void rms_f32(const NormBackwardRows<float>& r) { backward<false>(r); }
void rms_f64(const NormBackwardRows<double>& r) { backward<false>(r); }

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn::kernels {

HWY_EXPORT(layer_f32);
HWY_EXPORT(layer_f64);
HWY_EXPORT(rms_f32);
HWY_EXPORT(rms_f64);

void layer_norm_backward(const NormBackwardRows<float>& rows, std::int64_t target) noexcept {
  ATTN_DISPATCH(layer_f32, target)(rows);
}
void layer_norm_backward(const NormBackwardRows<double>& rows, std::int64_t target) noexcept {
  ATTN_DISPATCH(layer_f64, target)(rows);
}
void rms_norm_backward(const NormBackwardRows<float>& rows, std::int64_t target) noexcept {
  ATTN_DISPATCH(rms_f32, target)(rows);
}
void rms_norm_backward(const NormBackwardRows<double>& rows, std::int64_t target) noexcept {
  ATTN_DISPATCH(rms_f64, target)(rows);
}

}  // namespace attn::kernels
#endif
