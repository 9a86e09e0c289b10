// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set, by kernels/attention.cpp.
#if defined(ATTN_KERNELS_ATTENTION_VALUES_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_KERNELS_ATTENTION_VALUES_INL_HPP
#undef ATTN_KERNELS_ATTENTION_VALUES_INL_HPP
#else
#define ATTN_KERNELS_ATTENTION_VALUES_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>

#include "kernels/attention_tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// o[r] += sum over keys in order of v[key][r] * p[key], for kRows head dims; v and p begin at key `first` of the block.
// With kSelect, a hidden pair adds nothing even where v is not finite.
template <int kRows, int kWide, bool kSelect, class D, class T = hn::TFromD<D>>
HWY_INLINE void add_values(D d, const T* HWY_RESTRICT v, std::ptrdiff_t v_stride, std::ptrdiff_t keys,
                           const T* HWY_RESTRICT p, std::ptrdiff_t lanes, const ScoreSteps<T>& steps,
                           std::ptrdiff_t first, T* HWY_RESTRICT o) {
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(D());
  hn::Vec<D> sum[kRows][kWide];
  ATTN_UNROLL for (int r = 0; r < kRows; ++r) {
    ATTN_UNROLL for (int w = 0; w < kWide; ++w) sum[r][w] = hn::Load(d, o + r * lanes + w * kLanes);
  }
  for (std::ptrdiff_t j = 0; j < keys; ++j, v += v_stride, p += lanes) {
    hn::Vec<D> weight[kWide];
    ATTN_UNROLL for (int w = 0; w < kWide; ++w) weight[w] = hn::Load(d, p + w * kLanes);
    ATTN_UNROLL for (int r = 0; r < kRows; ++r) {
      const hn::Vec<D> x = hn::Set(d, v[r]);
      ATTN_UNROLL for (int w = 0; w < kWide; ++w) {
        const hn::Vec<D> next = hn::MulAdd(x, weight[w], sum[r][w]);
        if constexpr (kSelect) {
          sum[r][w] = hn::IfThenElse(visible_lanes(d, steps, w, first + j), next, sum[r][w]);
        } else {
          sum[r][w] = next;
        }
      }
    }
  }
  ATTN_UNROLL for (int r = 0; r < kRows; ++r) {
    ATTN_UNROLL for (int w = 0; w < kWide; ++w) hn::Store(sum[r][w], d, o + r * lanes + w * kLanes);
  }
}

// Adds keys first .. end of a block, with their weights, to all head dims of the output. The rows that do not fill a
// register tile of kMany go four at a time, then one.
template <int kWide, bool kSelect, class D, class T = hn::TFromD<D>>
HWY_NOINLINE void add_values_of_keys(D d, const Rows<T>& v, std::ptrdiff_t first, std::ptrdiff_t end, const Tile<T>& t,
                                     const ScoreSteps<T>& steps) {
  constexpr int kMany = kSelect ? 1 : kAccumulators / kWide, kFew = kSelect ? 1 : 4;
  const T* values = v.data + first * v.stride;
  const T* p = t.p + first * t.lanes;
  const std::ptrdiff_t keys = end - first, dim = t.dim_v;
  std::ptrdiff_t many = dim / kMany;
  while (many > 0 && (dim - many * kMany) % kFew != 0) --many;
  std::ptrdiff_t r = 0;
  for (; r < many * kMany; r += kMany) {
    add_values<kMany, kWide, kSelect>(d, values + r, v.stride, keys, p, t.lanes, steps, first, t.o + r * t.lanes);
  }
  for (; r + kFew <= dim; r += kFew) {
    add_values<kFew, kWide, kSelect>(d, values + r, v.stride, keys, p, t.lanes, steps, first, t.o + r * t.lanes);
  }
  for (; r < dim; ++r) {
    add_values<1, kWide, kSelect>(d, values + r, v.stride, keys, p, t.lanes, steps, first, t.o + r * t.lanes);
  }
}

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
