// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set, by kernels/attention_bf16.cpp.
#if defined(ATTN_KERNELS_ATTENTION_PAIR_WEIGHTS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_KERNELS_ATTENTION_PAIR_WEIGHTS_INL_HPP
#undef ATTN_KERNELS_ATTENTION_PAIR_WEIGHTS_INL_HPP
#else
#define ATTN_KERNELS_ATTENTION_PAIR_WEIGHTS_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/attention_tile-inl.hpp"
#include "kernels/attention_units-inl.hpp"
#include "kernels/exp-inl.hpp"

#if HWY_TARGET <= HWY_AVX3
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512bf16")
namespace attn::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using PairD = hn::ScalableTag<float>;
using PairV = hn::Vec<PairD>;
constexpr std::ptrdiff_t kPairLanes = 16, kPairGroup = 32;  // lanes of a vector; keys whose weights are made together

HWY_INLINE __m512 low_of_pairs(__m512i pairs) { return _mm512_castsi512_ps(_mm512_slli_epi32(pairs, 16)); }
HWY_INLINE __m512 high_of_pairs(__m512i pairs) {
  return _mm512_castsi512_ps(_mm512_and_si512(pairs, _mm512_set1_epi32(static_cast<int>(0xffff0000u))));
}

// Numbers that may be further from their neighbours in f32 than weights can bear.
HWY_INLINE hn::Mask<PairD> is_huge(PairV reference) {
  const PairD d;
  return hn::Ge(hn::Abs(reference), hn::Set(d, 0x1p22f));
}

// score * scale - reference, rounded once; but where both are huge the product must be what the reference was taken
// from, rounded, or the difference could be anything.
template <bool kHuge>
HWY_INLINE PairV weight(PairV score, PairV scale, PairV reference) {
  const PairD d;
  PairV x = hn::MulSub(score, scale, reference);
  if constexpr (kHuge) x = hn::IfThenElse(is_huge(reference), hn::Sub(hn::Mul(score, scale), reference), x);
  return exp2_bounded(d, x);
}

template <int kWide, bool kHuge>
HWY_INLINE void pair_weights(const float* s, std::ptrdiff_t stride, PairV scale, const PairV (&reference)[kWide],
                             std::uint32_t* to, std::ptrdiff_t lanes, PairV (&sum)[kWide], PairV (&rounded)[kWide]) {
  const PairD d;
  for (int r = 0; r < kPairGroup; r += 2, s += 2 * stride, to += lanes) {
    ATTN_UNROLL for (int w = 0; w < kWide; ++w) {
      const PairV even = weight<kHuge>(hn::Load(d, s + w * kPairLanes), scale, reference[w]);
      const PairV odd = weight<kHuge>(hn::Load(d, s + stride + w * kPairLanes), scale, reference[w]);
      const __m512i both = pair_bf16(even.raw, odd.raw);
      _mm512_store_si512(to + w * kPairLanes, both);
      rounded[w] = PairV{add_pairs(rounded[w].raw, both)};
      sum[w] = hn::Add(sum[w], hn::Add(even, odd));
    }
  }
}

// Multiplies `count` rows of pairs by the tile's factors, powers of two.
template <int kWide>
HWY_NOINLINE void scale_pairs(const Tile<float>& t, std::uint32_t* pairs, std::ptrdiff_t count) {
  for (std::ptrdiff_t i = 0; i < count; ++i, pairs += t.lanes) {
    for (int w = 0; w < kWide; ++w) {
      const __m512i both = _mm512_load_si512(pairs + w * kPairLanes);
      const __m512 factor = _mm512_load_ps(t.factor + w * kPairLanes);
      const __m512 even = _mm512_mul_ps(low_of_pairs(both), factor), odd = _mm512_mul_ps(high_of_pairs(both), factor);
      _mm512_store_si512(pairs + w * kPairLanes, pair_bf16(even, odd));
    }
  }
}

// As softmax_group of attention_tile-inl.hpp, of scores whose rows are `stride` apart, with weights in pairs;
// `pending` is the first key of the block not yet added to the output.
template <int kWide>
HWY_INLINE void softmax_pairs(const Tile<float>& t, const float* s, std::ptrdiff_t stride, std::uint32_t* pairs,
                              std::ptrdiff_t pending, std::ptrdiff_t j, float factor) {
  const PairD d;
  const PairV scale = hn::Set(d, factor);
  PairV top[kWide];
  ATTN_UNROLL for (int w = 0; w < kWide; ++w) top[w] = hn::Load(d, s + w * kPairLanes);
  for (std::ptrdiff_t r = 1; r < kPairGroup; ++r) {
    ATTN_UNROLL for (int w = 0; w < kWide; ++w) top[w] = hn::Max(top[w], hn::Load(d, s + r * stride + w * kPairLanes));
  }
  auto passes = hn::Gt(scale, scale);  // of no lane
  ATTN_UNROLL for (int w = 0; w < kWide; ++w) {
    top[w] = hn::Mul(top[w], scale);
    passes = hn::Or(passes, hn::Gt(top[w], hn::Load(d, t.limit + w * kPairLanes)));
  }
  if (HWY_UNLIKELY(!hn::AllFalse(d, passes)) && raise_reference<kWide>(d, t, top)) {
    scale_pairs<kWide>(t, pairs + pending / 2 * t.lanes, (j - pending) / 2);
  }
  float* rounded_sum = t.o + (t.dim_v - 1) * t.lanes;
  PairV reference[kWide], sum[kWide], rounded[kWide];
  ATTN_UNROLL for (int w = 0; w < kWide; ++w) {
    reference[w] = hn::Load(d, t.reference + w * kPairLanes);
    sum[w] = hn::Load(d, t.sum + w * kPairLanes);
    rounded[w] = hn::Load(d, rounded_sum + w * kPairLanes);
  }
  auto huge = hn::Gt(scale, scale);  // of no lane
  ATTN_UNROLL for (int w = 0; w < kWide; ++w) huge = hn::Or(huge, is_huge(reference[w]));
  std::uint32_t* to = pairs + j / 2 * t.lanes;
  if (HWY_UNLIKELY(!hn::AllFalse(d, huge))) {
    pair_weights<kWide, true>(s, stride, scale, reference, to, t.lanes, sum, rounded);
  } else {
    pair_weights<kWide, false>(s, stride, scale, reference, to, t.lanes, sum, rounded);
  }
  ATTN_UNROLL for (int w = 0; w < kWide; ++w) {
    hn::Store(sum[w], d, t.sum + w * kPairLanes);
    hn::Store(rounded[w], d, rounded_sum + w * kPairLanes);
  }
}

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_POP_ATTRIBUTES
#endif  // HWY_TARGET <= HWY_AVX3

#endif
