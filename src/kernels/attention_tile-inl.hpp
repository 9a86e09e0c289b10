// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set, by kernels/attention.cpp.
#if defined(ATTN_KERNELS_ATTENTION_TILE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_KERNELS_ATTENTION_TILE_INL_HPP
#undef ATTN_KERNELS_ATTENTION_TILE_INL_HPP
#else
#define ATTN_KERNELS_ATTENTION_TILE_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <limits>

#include "kernels/exp-inl.hpp"

#undef ATTN_UNROLL
#if HWY_COMPILER_CLANG
#define ATTN_UNROLL _Pragma("unroll")
#else
#define ATTN_UNROLL _Pragma("GCC unroll 16")
#endif

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Vector lanes are queries in both products: K and V are read in their own layout as scalar broadcasts, and maximum,
// sum and rescaling are vertical operations. A tile is kVectors vectors of queries wide. kRows rows (keys, or head dims
// of the second product) share each load of the tile: accumulators, the tile's vectors and one broadcast fill the
// registers (32 with AVX-512, 16 with AVX2).
#if HWY_TARGET <= HWY_AVX3
constexpr int kVectors = 4, kRows = 6;
#elif HWY_TARGET == HWY_AVX2
constexpr int kVectors = 3, kRows = 4;
#else
constexpr int kVectors = 4, kRows = 4;
#endif

// s[r][lane] = sum over d in order of k[r][d] * qt[d][lane], for kCount rows.
template <int kCount, int kWide, class D, class T = hn::TFromD<D>>
HWY_INLINE void qk_rows(D d, const T* HWY_RESTRICT k, std::ptrdiff_t k_stride, const T* HWY_RESTRICT qt,
                        std::ptrdiff_t dim, T* HWY_RESTRICT s) {
  constexpr std::ptrdiff_t kLanes = kWide * static_cast<std::ptrdiff_t>(hn::MaxLanes(D()));
  const std::ptrdiff_t n = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  hn::Vec<D> sum[kCount][kWide];
  ATTN_UNROLL for (int r = 0; r < kCount; ++r) { ATTN_UNROLL for (int w = 0; w < kWide; ++w) sum[r][w] = hn::Zero(d); }
  for (std::ptrdiff_t i = 0; i < dim; ++i) {
    hn::Vec<D> q[kWide];
    ATTN_UNROLL for (int w = 0; w < kWide; ++w) q[w] = hn::Load(d, qt + i * kLanes + w * n);
    ATTN_UNROLL for (int r = 0; r < kCount; ++r) {
      const hn::Vec<D> x = hn::Set(d, k[r * k_stride + i]);
      ATTN_UNROLL for (int w = 0; w < kWide; ++w) sum[r][w] = hn::MulAdd(x, q[w], sum[r][w]);
    }
  }
  ATTN_UNROLL for (int r = 0; r < kCount; ++r) {
    ATTN_UNROLL for (int w = 0; w < kWide; ++w) hn::Store(sum[r][w], d, s + r * kLanes + w * n);
  }
}

// Scores of `keys` keys: s[key][lane].
template <int kWide, class D, class T = hn::TFromD<D>>
void qk_block(D d, const T* k, std::ptrdiff_t k_stride, std::ptrdiff_t keys, const T* qt, std::ptrdiff_t dim, T* s) {
  constexpr std::ptrdiff_t kLanes = kWide * static_cast<std::ptrdiff_t>(hn::MaxLanes(D()));
  std::ptrdiff_t r = 0;
  for (; r + kRows <= keys; r += kRows) qk_rows<kRows, kWide>(d, k + r * k_stride, k_stride, qt, dim, s + r * kLanes);
  for (; r < keys; ++r) qk_rows<1, kWide>(d, k + r * k_stride, k_stride, qt, dim, s + r * kLanes);
}

// o[r][lane] += sum over keys in order of v[key][r] * p[key][lane], for kCount head dims. With kSelect, a hidden pair
// adds nothing even where v is not finite.
template <int kCount, int kWide, bool kSelect, class D, class T = hn::TFromD<D>>
HWY_INLINE void pv_rows(D d, const T* HWY_RESTRICT v, std::ptrdiff_t v_stride, std::ptrdiff_t keys,
                        const T* HWY_RESTRICT p, const T* HWY_RESTRICT hidden, T* HWY_RESTRICT o) {
  constexpr std::ptrdiff_t kLanes = kWide * static_cast<std::ptrdiff_t>(hn::MaxLanes(D()));
  const std::ptrdiff_t n = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  hn::Vec<D> sum[kCount][kWide];
  ATTN_UNROLL for (int r = 0; r < kCount; ++r) {
    ATTN_UNROLL for (int w = 0; w < kWide; ++w) sum[r][w] = hn::Load(d, o + r * kLanes + w * n);
  }
  for (std::ptrdiff_t j = 0; j < keys; ++j) {
    hn::Vec<D> weight[kWide];
    ATTN_UNROLL for (int w = 0; w < kWide; ++w) weight[w] = hn::Load(d, p + j * kLanes + w * n);
    ATTN_UNROLL for (int r = 0; r < kCount; ++r) {
      const hn::Vec<D> x = hn::Set(d, v[j * v_stride + r]);
      ATTN_UNROLL for (int w = 0; w < kWide; ++w) {
        const hn::Vec<D> next = hn::MulAdd(x, weight[w], sum[r][w]);
        if constexpr (kSelect) {
          const auto visible = hn::Eq(hn::Load(d, hidden + j * kLanes + w * n), hn::Zero(d));
          sum[r][w] = hn::IfThenElse(visible, next, sum[r][w]);
        } else {
          sum[r][w] = next;
        }
      }
    }
  }
  ATTN_UNROLL for (int r = 0; r < kCount; ++r) {
    ATTN_UNROLL for (int w = 0; w < kWide; ++w) hn::Store(sum[r][w], d, o + r * kLanes + w * n);
  }
}

// Adds a block of keys to all head dims of the output tile o[dim][lane].
template <int kWide, bool kSelect, class D, class T = hn::TFromD<D>>
void pv_block(D d, const T* v, std::ptrdiff_t v_stride, std::ptrdiff_t keys, const T* p, const T* hidden,
              std::ptrdiff_t dim, T* o) {
  constexpr std::ptrdiff_t kLanes = kWide * static_cast<std::ptrdiff_t>(hn::MaxLanes(D()));
  std::ptrdiff_t r = 0;
  for (; r + kRows <= dim; r += kRows)
    pv_rows<kRows, kWide, kSelect>(d, v + r, v_stride, keys, p, hidden, o + r * kLanes);
  for (; r < dim; ++r) pv_rows<1, kWide, kSelect>(d, v + r, v_stride, keys, p, hidden, o + r * kLanes);
}

// s = cap * tanh(s / cap), with tanh(x) = sign(x) * (1 - e) / (1 + e), e = exp(-2 |x|); near 0, where that cancels, its
// odd Taylor series.
template <class D, class T = hn::TFromD<D>>
void softcap_block(D d, T cap, std::ptrdiff_t count, T* s) {
  using V = hn::Vec<D>;
  const V one = hn::Set(d, T{1}), two = hn::Set(d, T{-2}), inverse = hn::Set(d, T{1} / cap);
  // Below this the series' first term left out, 0.0036 x^13, is under half a unit in the last place.
  const V near = hn::Set(d, sizeof(T) == 8 ? T(0.07) : T(0.35));
  for (std::ptrdiff_t i = 0; i < count; i += static_cast<std::ptrdiff_t>(hn::Lanes(d))) {
    const V x = hn::Mul(hn::Load(d, s + i), inverse), magnitude = hn::Abs(x);
    const V e = exp_non_positive(d, hn::Mul(two, magnitude));
    const V far_value = hn::CopySign(hn::Div(hn::Sub(one, e), hn::Add(one, e)), x);
    const V x2 = hn::Mul(x, x);
    V series = hn::Set(d, T(-1382.0 / 155925.0));
    series = hn::MulAdd(series, x2, hn::Set(d, T(62.0 / 2835.0)));
    series = hn::MulAdd(series, x2, hn::Set(d, T(-17.0 / 315.0)));
    series = hn::MulAdd(series, x2, hn::Set(d, T(2.0 / 15.0)));
    series = hn::MulAdd(series, x2, hn::Set(d, T(-1.0 / 3.0)));
    const V near_value = hn::MulAdd(hn::Mul(x, x2), series, x);
    const V capped = hn::IfThenElse(hn::Lt(magnitude, near), near_value, far_value);
    hn::Store(hn::Mul(capped, hn::Set(d, cap)), d, s + i);
  }
}

template <class D, class T = hn::TFromD<D>>
void add_block(D d, const T* bias, std::ptrdiff_t count, T* s) {
  for (std::ptrdiff_t i = 0; i < count; i += static_cast<std::ptrdiff_t>(hn::Lanes(d))) {
    hn::Store(hn::Add(hn::Load(d, s + i), hn::Load(d, bias + i)), d, s + i);
  }
}

// Hidden scores become -inf, whatever they were.
template <class D, class T = hn::TFromD<D>>
void hide_block(D d, const T* hidden, std::ptrdiff_t count, T* s) {
  const hn::Vec<D> hidden_score = hn::Set(d, -std::numeric_limits<T>::infinity());
  for (std::ptrdiff_t i = 0; i < count; i += static_cast<std::ptrdiff_t>(hn::Lanes(d))) {
    const auto visible = hn::Eq(hn::Load(d, hidden + i), hn::Zero(d));
    hn::Store(hn::IfThenElse(visible, hn::Load(d, s + i), hidden_score), d, s + i);
  }
}

// Turns a block's scores into exp(score - max) in place, raising each lane's running maximum first. `max` starts at
// -inf and `sum` at 0. Writes the factor by which what was summed before must shrink to `shrink`; returns whether any
// lane's differs from 1. (Milakov & Gimelshein 2018, algorithm 3, a block at a time.)
template <int kWide, class D, class T = hn::TFromD<D>>
bool softmax_block(D d, std::ptrdiff_t keys, T* s, T* max, T* sum, T* shrink) {
  using V = hn::Vec<D>;
  constexpr std::ptrdiff_t kLanes = kWide * static_cast<std::ptrdiff_t>(hn::MaxLanes(D()));
  const V lowest = hn::Set(d, -std::numeric_limits<T>::infinity());
  bool any_raised = false;
  for (std::ptrdiff_t lane = 0; lane < kLanes; lane += static_cast<std::ptrdiff_t>(hn::Lanes(d))) {
    const V before = hn::Load(d, max + lane);
    V raised = before;
    for (std::ptrdiff_t j = 0; j < keys; ++j) {
      const V x = hn::Load(d, s + j * kLanes + lane);
      raised = hn::IfThenElse(hn::Gt(x, raised), x, raised);  // A NaN is never greater: it shows up in the sum.
    }
    hn::Store(raised, d, max + lane);
    // A lane that has seen no key yet keeps -inf; subtracting 0 in its place avoids -inf - (-inf).
    const V base = hn::IfThenElse(hn::Eq(raised, lowest), hn::Zero(d), raised);
    const V factor = exp_non_positive(d, hn::Sub(before, base));
    hn::Store(factor, d, shrink + lane);
    any_raised = any_raised || !hn::AllTrue(d, hn::Eq(before, raised));
    V total = hn::Mul(hn::Load(d, sum + lane), factor);
    for (std::ptrdiff_t j = 0; j < keys; ++j) {
      const V p = exp_non_positive(d, hn::Sub(hn::Load(d, s + j * kLanes + lane), base));
      hn::Store(p, d, s + j * kLanes + lane);
      total = hn::Add(total, p);
    }
    hn::Store(total, d, sum + lane);
  }
  return any_raised;
}

// Multiplies the rows of a tile, [rows][lane], by a factor for each lane.
template <int kWide, class D, class T = hn::TFromD<D>>
void scale_rows(D d, const T* factor, std::ptrdiff_t rows, T* tile) {
  constexpr std::ptrdiff_t kLanes = kWide * static_cast<std::ptrdiff_t>(hn::MaxLanes(D()));
  for (std::ptrdiff_t lane = 0; lane < kLanes; lane += static_cast<std::ptrdiff_t>(hn::Lanes(d))) {
    const hn::Vec<D> f = hn::Load(d, factor + lane);
    for (std::ptrdiff_t r = 0; r < rows; ++r) {
      T* at = tile + r * kLanes + lane;
      hn::Store(hn::Mul(hn::Load(d, at), f), d, at);
    }
  }
}

// Weights exp(s - max) * inverse of a block, in place; `max` is each lane's final one. Hidden pairs have weight 0, in a
// row of NaN as well.
template <int kWide, class D, class T = hn::TFromD<D>>
void weights_block(D d, std::ptrdiff_t keys, const T* max, const T* inverse, const T* hidden, T* s) {
  using V = hn::Vec<D>;
  constexpr std::ptrdiff_t kLanes = kWide * static_cast<std::ptrdiff_t>(hn::MaxLanes(D()));
  const V lowest = hn::Set(d, -std::numeric_limits<T>::infinity());
  for (std::ptrdiff_t lane = 0; lane < kLanes; lane += static_cast<std::ptrdiff_t>(hn::Lanes(d))) {
    const V top = hn::Load(d, max + lane);
    const V base = hn::IfThenElse(hn::Eq(top, lowest), hn::Zero(d), top);
    const V factor = hn::Load(d, inverse + lane);
    for (std::ptrdiff_t at = lane; at < keys * kLanes; at += kLanes) {
      const auto visible = hn::Eq(hn::Load(d, hidden + at), hn::Zero(d));
      const V weight = hn::Mul(exp_non_positive(d, hn::Sub(hn::Load(d, s + at), base)), factor);
      hn::Store(hn::IfThenElseZero(visible, weight), d, s + at);
    }
  }
}

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
