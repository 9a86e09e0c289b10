// SPDX-License-Identifier: Apache-2.0
#include "kernels/transpose.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/transpose.cpp"
// foreach_target.h must come before anything that includes highway.h.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/dispatch.hpp"
#include "kernels/rows-inl.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class T>
void turn_over(const T* from, std::ptrdiff_t from_row, std::ptrdiff_t rows, std::ptrdiff_t columns, T* to,
               std::ptrdiff_t to_row) {
  const hn::ScalableTag<T> d;
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(d);
  std::ptrdiff_t r = 0;
  for (; r + kLanes <= rows; r += kLanes) {
    const T* row[kLanes];
    for (std::ptrdiff_t i = 0; i < kLanes; ++i) row[i] = from + (r + i) * from_row;
    rows_to_columns(d, row, columns, T{1}, to_row, to + r);
  }
  for (; r < rows; ++r) {
    for (std::ptrdiff_t c = 0; c < columns; ++c) to[c * to_row + r] = from[r * from_row + c];
  }
}

void turn_over_f32(const float* from, std::ptrdiff_t from_row, std::ptrdiff_t rows, std::ptrdiff_t columns, float* to,
                   std::ptrdiff_t to_row) {
  turn_over(from, from_row, rows, columns, to, to_row);
}
void turn_over_f64(const double* from, std::ptrdiff_t from_row, std::ptrdiff_t rows, std::ptrdiff_t columns, double* to,
                   std::ptrdiff_t to_row) {
  turn_over(from, from_row, rows, columns, to, to_row);
}

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn::kernels {

HWY_EXPORT(turn_over_f32);
HWY_EXPORT(turn_over_f64);

void transpose(const float* from, std::ptrdiff_t from_row, std::ptrdiff_t rows, std::ptrdiff_t columns, float* to,
               std::ptrdiff_t to_row, std::int64_t target) noexcept {
  ATTN_DISPATCH(turn_over_f32, target)(from, from_row, rows, columns, to, to_row);
}
void transpose(const double* from, std::ptrdiff_t from_row, std::ptrdiff_t rows, std::ptrdiff_t columns, double* to,
               std::ptrdiff_t to_row, std::int64_t target) noexcept {
  ATTN_DISPATCH(turn_over_f64, target)(from, from_row, rows, columns, to, to_row);
}

}  // namespace attn::kernels
#endif
