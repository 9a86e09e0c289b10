// SPDX-License-Identifier: Apache-2.0
#include "kernels/peak.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/peak.cpp"
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

template <class T>
FmaWork fma_work(std::ptrdiff_t rounds) {
  const hn::ScalableTag<T> d;
  constexpr int kVectors = 12;
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(d);
  const auto factor = hn::Set(d, T(0.999)), term = hn::Set(d, T(0.001));
  hn::Vec<decltype(d)> a[kVectors];
  for (auto& vector : a) vector = hn::Iota(d, T{0});
  for (std::ptrdiff_t r = 0; r < rounds; ++r) {
    for (auto& vector : a) vector = hn::MulAdd(vector, factor, term);
  }
  for (int v = 1; v < kVectors; ++v) a[0] = hn::Add(a[0], a[v]);
  return {2.0 * static_cast<double>(kVectors * kLanes * rounds),
          static_cast<double>(hn::GetLane(hn::SumOfLanes(d, a[0])))};
}

FmaWork fma_f32(std::ptrdiff_t rounds) { return fma_work<float>(rounds); }
FmaWork fma_f64(std::ptrdiff_t rounds) { return fma_work<double>(rounds); }

float read(const float* x, std::ptrdiff_t n) {
  const hn::ScalableTag<float> d;
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(d);
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  std::ptrdiff_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    s0 = hn::Add(s0, hn::LoadU(d, x + i));
    s1 = hn::Add(s1, hn::LoadU(d, x + i + kLanes));
    s2 = hn::Add(s2, hn::LoadU(d, x + i + 2 * kLanes));
    s3 = hn::Add(s3, hn::LoadU(d, x + i + 3 * kLanes));
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; i < n; ++i) sum += x[i];
  return sum;
}

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn::kernels {

HWY_EXPORT(fma_f32);
HWY_EXPORT(fma_f64);
HWY_EXPORT(read);

FmaWork fma_work_f32(std::ptrdiff_t rounds, std::int64_t target) noexcept {
  return ATTN_DISPATCH(fma_f32, target)(rounds);
}
FmaWork fma_work_f64(std::ptrdiff_t rounds, std::int64_t target) noexcept {
  return ATTN_DISPATCH(fma_f64, target)(rounds);
}
float read_work(const float* x, std::ptrdiff_t n, std::int64_t target) noexcept {
  return ATTN_DISPATCH(read, target)(x, n);
}

}  // namespace attn::kernels
#endif
