// SPDX-License-Identifier: Apache-2.0
#include "kernels/norm.hpp"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/norm.cpp"
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

// Sum of x - shift, in four vectors of partial sums: lane i of vector v takes every column that is v * lanes + i beyond
// a multiple of four vectors; then the rest, one by one.
template <class T>
HWY_INLINE T row_sum(const T* x, std::ptrdiff_t columns, T shift) {
  const hn::ScalableTag<T> d;
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(d);
  const auto middle = hn::Set(d, shift);
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  std::ptrdiff_t c = 0;
  for (; c + 4 * kLanes <= columns; c += 4 * kLanes) {
    s0 = hn::Add(s0, hn::Sub(hn::LoadU(d, x + c), middle));
    s1 = hn::Add(s1, hn::Sub(hn::LoadU(d, x + c + kLanes), middle));
    s2 = hn::Add(s2, hn::Sub(hn::LoadU(d, x + c + 2 * kLanes), middle));
    s3 = hn::Add(s3, hn::Sub(hn::LoadU(d, x + c + 3 * kLanes), middle));
  }
  T sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; c < columns; ++c) sum += x[c] - shift;
  return sum;
}

// Sum of (x - shift)^2, in the same order.
template <class T>
HWY_INLINE T row_square_sum(const T* x, std::ptrdiff_t columns, T shift) {
  const hn::ScalableTag<T> d;
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(d);
  const auto middle = hn::Set(d, shift);
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  std::ptrdiff_t c = 0;
  for (; c + 4 * kLanes <= columns; c += 4 * kLanes) {
    const auto x0 = hn::Sub(hn::LoadU(d, x + c), middle), x1 = hn::Sub(hn::LoadU(d, x + c + kLanes), middle);
    const auto x2 = hn::Sub(hn::LoadU(d, x + c + 2 * kLanes), middle);
    const auto x3 = hn::Sub(hn::LoadU(d, x + c + 3 * kLanes), middle);
    s0 = hn::MulAdd(x0, x0, s0);
    s1 = hn::MulAdd(x1, x1, s1);
    s2 = hn::MulAdd(x2, x2, s2);
    s3 = hn::MulAdd(x3, x3, s3);
  }
  T sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; c < columns; ++c) sum += (x[c] - shift) * (x[c] - shift);
  return sum;
}

// y = (x - shift) * factor * weight + bias.
template <class T>
HWY_INLINE void scale_row(const NormRows<T>& rows, const T* x, T shift, T factor, T* y) {
  const hn::ScalableTag<T> d;
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(d);
  const auto middle = hn::Set(d, shift), scale = hn::Set(d, factor);
  std::ptrdiff_t c = 0;
  for (; c + kLanes <= rows.columns; c += kLanes) {
    auto value = hn::Mul(hn::Sub(hn::LoadU(d, x + c), middle), scale);
    if (rows.weight != nullptr) value = hn::Mul(value, hn::LoadU(d, rows.weight + c));
    if (rows.bias != nullptr) value = hn::Add(value, hn::LoadU(d, rows.bias + c));
    hn::StoreU(value, d, y + c);
  }
  for (; c < rows.columns; ++c) {
    T value = (x[c] - shift) * factor;
    if (rows.weight != nullptr) value *= rows.weight[c];
    if (rows.bias != nullptr) value += rows.bias[c];
    y[c] = value;
  }
}

template <class T>
void layer_norm_rows(const NormRows<T>& rows) {
  for (std::ptrdiff_t r = 0; r < rows.rows; ++r) {
    const T* x = rows.x + r * rows.x_row;
    const T count = static_cast<T>(rows.columns);
    T mean = row_sum(x, rows.columns, T{0}) / count;
    mean += row_sum(x, rows.columns, mean) / count;  // What rounding of a large sum has lost.
    const T variance = row_square_sum(x, rows.columns, mean) / count;
    scale_row(rows, x, mean, T{1} / std::sqrt(variance + rows.eps), rows.y + r * rows.y_row);
  }
}

template <class T>
void rms_norm_rows(const NormRows<T>& rows) {
  for (std::ptrdiff_t r = 0; r < rows.rows; ++r) {
    const T* x = rows.x + r * rows.x_row;
    const T square = row_square_sum(x, rows.columns, T{0}) / static_cast<T>(rows.columns);
    scale_row(rows, x, T{0}, T{1} / std::sqrt(square + rows.eps), rows.y + r * rows.y_row);
  }
}

void layer_norm_f32(const NormRows<float>& rows) { layer_norm_rows(rows); }
void layer_norm_f64(const NormRows<double>& rows) { layer_norm_rows(rows); }
void rms_norm_f32(const NormRows<float>& rows) { rms_norm_rows(rows); }
void rms_norm_f64(const NormRows<double>& rows) { rms_norm_rows(rows); }

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn::kernels {

HWY_EXPORT(layer_norm_f32);
HWY_EXPORT(layer_norm_f64);
HWY_EXPORT(rms_norm_f32);
HWY_EXPORT(rms_norm_f64);

void layer_norm(const NormRows<float>& rows, std::int64_t target) noexcept {
  ATTN_DISPATCH(layer_norm_f32, target)(rows);
}
void layer_norm(const NormRows<double>& rows, std::int64_t target) noexcept {
  ATTN_DISPATCH(layer_norm_f64, target)(rows);
}
void rms_norm(const NormRows<float>& rows, std::int64_t target) noexcept { ATTN_DISPATCH(rms_norm_f32, target)(rows); }
void rms_norm(const NormRows<double>& rows, std::int64_t target) noexcept { ATTN_DISPATCH(rms_norm_f64, target)(rows); }

}  // namespace attn::kernels
#endif
