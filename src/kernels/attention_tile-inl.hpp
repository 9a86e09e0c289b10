// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set, by kernels/attention.cpp.
#if defined(ATTN_KERNELS_ATTENTION_TILE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_KERNELS_ATTENTION_TILE_INL_HPP
#undef ATTN_KERNELS_ATTENTION_TILE_INL_HPP
#else
#define ATTN_KERNELS_ATTENTION_TILE_INL_HPP
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/exp-inl.hpp"
#include "kernels/softcap-inl.hpp"
#include "kernels/unroll.hpp"

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Vector lanes are queries in both products: K and V are read in their own layout as scalar broadcasts, and maximum,
// sum and rescaling are vertical operations. A tile is kVectors vectors of queries wide. kGroup keys share each load of
// the tile: accumulators, the tile's vectors and one broadcast fill the registers (32 with AVX-512 and NEON, 16 with
// AVX2).
#if HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr int kVectors = 4, kGroup = 6, kAccumulators = 24;
#elif HWY_TARGET == HWY_AVX2
constexpr int kVectors = 3, kGroup = 4, kAccumulators = 12;
#else
constexpr int kVectors = 4, kGroup = 4, kAccumulators = 16;
#endif

// A narrow tile takes several groups at once, up to 8 rows of keys, so that its few chains hide each other's latency.
template <int kWide>
constexpr int kGroupsAtOnce = kGroup* kWide * 2 <= kAccumulators&& kGroup * 2 <= 8 + kGroup ? 2 : 1;

// How far, in powers of two, a score may exceed its row's reference before the reference is raised.
constexpr int kHeadroom = 8;

// One tile's rows from its first active vector on; rows are `lanes` apart. In base 2: a weight is 2^(score -
// reference).
template <class T>
struct Tile {
  std::ptrdiff_t lanes = 0, dim_qk = 0, dim_v = 0;
  const T* q = nullptr;    // [dim_qk]
  T* p = nullptr;          // [keys]: scores, then weights, of the block's keys
  T* o = nullptr;          // [dim_v]
  T* reference = nullptr;  // an integer near the row's largest score; 0 until a finite score is seen
  T* limit = nullptr;      // reference + kHeadroom; -inf until a finite score is seen
  T* sum = nullptr;        // of the weights
  T* factor = nullptr;     // scratch
};

// Rows of keys or values.
template <class T>
struct Rows {
  const T* data = nullptr;
  std::ptrdiff_t stride = 0, count = 0;
};

// What happens to scores besides scaling; rows are keys of the block.
template <class T>
struct ScoreSteps {
  T softcap = 0;                          // 0: none
  T unit = 1;                             // of scores: log2(e) where they are counted in base 2
  const T* bias = nullptr;                // [keys][lanes], in that unit; null: none
  const T* slope = nullptr;               // [lanes], of ALiBi, in that unit; null: none
  const T* position = nullptr;            // [lanes], counted from the block's first key
  const std::uint8_t* visible = nullptr;  // a plane for each vector, a word for each key; null: all are
  std::ptrdiff_t plane_bytes = 0;
  unsigned hiding = ~0u;  // a bit for each vector: whether its plane hides any
};

// The same for the tile's vectors from `vector` on.
template <std::ptrdiff_t kLanes, class T>
ScoreSteps<T> steps_from(ScoreSteps<T> steps, std::ptrdiff_t vector) {
  if (steps.bias != nullptr) steps.bias += vector * kLanes;
  if (steps.slope != nullptr) {
    steps.slope += vector * kLanes;
    steps.position += vector * kLanes;
  }
  if (steps.visible != nullptr) steps.visible += vector * steps.plane_bytes;
  steps.hiding >>= vector;
  return steps;
}

template <class D>
constexpr std::ptrdiff_t mask_bytes() {
  return hn::MaxLanes(D()) < 8 ? 1 : static_cast<std::ptrdiff_t>(hn::MaxLanes(D())) / 8;
}

template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Mask<D> visible_lanes(D d, const ScoreSteps<T>& steps, int w, std::ptrdiff_t key) {
  return hn::LoadMaskBits(d, steps.visible + w * steps.plane_bytes + key * mask_bytes<D>());
}

// s[r][w] = sum over i in order of row[r][i] * q[i], for the tile's first kWide vectors.
template <int kRows, int kWide, class D, class T = hn::TFromD<D>>
HWY_INLINE void dot_rows(D d, const T* const (&row)[kRows], const Tile<T>& t, hn::Vec<D> (&s)[kRows][kWide]) {
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(D());
  const T* HWY_RESTRICT q = t.q;
  ATTN_UNROLL for (int r = 0; r < kRows; ++r) { ATTN_UNROLL for (int w = 0; w < kWide; ++w) s[r][w] = hn::Zero(d); }
  for (std::ptrdiff_t i = 0; i < t.dim_qk; ++i, q += t.lanes) {
    hn::Vec<D> x[kWide];
    ATTN_UNROLL for (int w = 0; w < kWide; ++w) x[w] = hn::Load(d, q + w * kLanes);
    ATTN_UNROLL for (int r = 0; r < kRows; ++r) {
      const hn::Vec<D> k = hn::Set(d, row[r][i]);
      ATTN_UNROLL for (int w = 0; w < kWide; ++w) s[r][w] = hn::MulAdd(k, x[w], s[r][w]);
    }
  }
}

// Multiplies `count` rows by the tile's factors.
template <int kWide, class D, class T = hn::TFromD<D>>
HWY_INLINE void scale_rows(D d, const Tile<T>& t, std::ptrdiff_t count, T* rows) {
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(D());
  for (std::ptrdiff_t r = 0; r < count; ++r, rows += t.lanes) {
    ATTN_UNROLL for (int w = 0; w < kWide; ++w) {
      hn::Store(hn::Mul(hn::Load(d, rows + w * kLanes), hn::Load(d, t.factor + w * kLanes)), d, rows + w * kLanes);
    }
  }
}

// Raises the reference of each lane whose score passed its limit, and shrinks what was summed before: the sum and the
// output. References are integers, so that the factor is a power of two and it does not matter whether a weight is
// shrunk before it is added to the output or after.
// Returns whether weights shrink: by the tile's factors, with which the caller multiplies those of this block.
template <int kWide, class D, class T = hn::TFromD<D>>
HWY_NOINLINE bool raise_reference(D d, const Tile<T>& t, const hn::Vec<D>* top) {
  using V = hn::Vec<D>;
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(D());
  const V one = hn::Set(d, T{1}), unset = hn::Set(d, -std::numeric_limits<T>::infinity());
  bool shrinks = false;
  for (int w = 0; w < kWide; ++w) {
    const V before = hn::Load(d, t.reference + w * kLanes), limit = hn::Load(d, t.limit + w * kLanes);
    const auto passed = hn::Gt(top[w], limit);
    const V raised = hn::IfThenElse(passed, hn::Ceil(top[w]), before);
    const auto keeps = hn::Or(hn::Not(passed), hn::Eq(limit, unset));
    const V factor = hn::IfThenElse(keeps, one, exp2_bounded(d, hn::Sub(before, raised)));
    hn::Store(raised, d, t.reference + w * kLanes);
    hn::Store(hn::IfThenElse(passed, hn::Add(raised, hn::Set(d, T{kHeadroom})), limit), d, t.limit + w * kLanes);
    hn::Store(hn::Mul(hn::Load(d, t.sum + w * kLanes), factor), d, t.sum + w * kLanes);
    hn::Store(factor, d, t.factor + w * kLanes);
    shrinks = shrinks || !hn::AllTrue(d, keeps);
  }
  if (shrinks) scale_rows<kWide>(d, t, t.dim_v, t.o);
  return shrinks;
}

// Soft-cap, bias and visibility of a group of scores, whose first is key j of the block.
template <int kWide, int kRows = kGroup, class D, class T = hn::TFromD<D>>
HWY_INLINE void finish_scores(D d, const ScoreSteps<T>& steps, const Tile<T>& t, std::ptrdiff_t j,
                              hn::Vec<D> (*s)[kWide]) {
  using V = hn::Vec<D>;
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(D());
  const V hidden = hn::Set(d, -std::numeric_limits<T>::infinity());
  if (steps.softcap != 0) {
    T* at = t.p + j * t.lanes;
    ATTN_UNROLL for (int r = 0; r < kRows; ++r) {
      ATTN_UNROLL for (int w = 0; w < kWide; ++w) hn::Store(s[r][w], d, at + r * t.lanes + w * kLanes);
    }
    for (int r = 0; r < kRows; ++r) softcap_row(d, steps.softcap, steps.unit, kWide * kLanes, at + r * t.lanes);
    ATTN_UNROLL for (int r = 0; r < kRows; ++r) {
      ATTN_UNROLL for (int w = 0; w < kWide; ++w) s[r][w] = hn::Load(d, at + r * t.lanes + w * kLanes);
    }
  }
  if (steps.bias != nullptr) {
    const T* at = steps.bias + j * t.lanes;
    ATTN_UNROLL for (int r = 0; r < kRows; ++r) {
      ATTN_UNROLL for (int w = 0; w < kWide; ++w) {
        const V b = hn::Load(d, at + r * t.lanes + w * kLanes);
        s[r][w] = hn::IfThenElse(hn::Eq(b, hidden), hidden, hn::Add(s[r][w], b));
      }
    }
  }
  if (steps.slope != nullptr) {
    ATTN_UNROLL for (int r = 0; r < kRows; ++r) {
      const V key = hn::Set(d, static_cast<T>(j + r));
      ATTN_UNROLL for (int w = 0; w < kWide; ++w) {
        const V distance = hn::Abs(hn::Sub(hn::Load(d, steps.position + w * kLanes), key));
        s[r][w] = hn::NegMulAdd(hn::Load(d, steps.slope + w * kLanes), distance, s[r][w]);
      }
    }
  }
  if (steps.visible != nullptr) {
    ATTN_UNROLL for (int w = 0; w < kWide; ++w) {
      if ((steps.hiding >> w & 1) == 0) continue;
      ATTN_UNROLL for (int r = 0; r < kRows; ++r) {
        s[r][w] = hn::IfThenElse(visible_lanes(d, steps, w, j + r), s[r][w], hidden);
      }
    }
  }
}

// Turns a group of scores into weights; `first` is the first key of this block not yet added to the output. (Milakov &
// Gimelshein 2018, algorithm 3, with the reference raised only where a score would exceed 2^kHeadroom.)
template <int kWide, class D, class T = hn::TFromD<D>>
HWY_INLINE void softmax_group(D d, const Tile<T>& t, std::ptrdiff_t first, std::ptrdiff_t j, hn::Vec<D> (*s)[kWide]) {
  using V = hn::Vec<D>;
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(D());
  V top[kWide];
  auto passes = hn::Gt(s[0][0], s[0][0]);  // of no lane
  ATTN_UNROLL for (int w = 0; w < kWide; ++w) {
    top[w] = s[0][w];
    ATTN_UNROLL for (int r = 1; r < kGroup; ++r) top[w] = hn::Max(top[w], s[r][w]);
    passes = hn::Or(passes, hn::Gt(top[w], hn::Load(d, t.limit + w * kLanes)));
  }
  if (HWY_UNLIKELY(!hn::AllFalse(d, passes)) && raise_reference<kWide>(d, t, top)) {
    scale_rows<kWide>(d, t, j - first, t.p + first * t.lanes);
  }
  T* p = t.p + j * t.lanes;
  ATTN_UNROLL for (int w = 0; w < kWide; ++w) {
    const V reference = hn::Load(d, t.reference + w * kLanes);
    V sum = hn::Load(d, t.sum + w * kLanes);
    ATTN_UNROLL for (int r = 0; r < kGroup; ++r) {
      const V weight = exp2_bounded(d, hn::Sub(s[r][w], reference));
      hn::Store(weight, d, p + r * t.lanes + w * kLanes);
      sum = hn::Add(sum, weight);
    }
    hn::Store(sum, d, t.sum + w * kLanes);
  }
}

// The keys and values of the next block, asked for row by row while this one is worked on. Null: not wanted.
template <class T>
struct NextBlock {
  Rows<T> k = {}, v = {};
};

// Into the second cache, where it is told from the first: the block now worked on fills that.
template <class T>
HWY_INLINE void prefetch(const T* at) {
#if HWY_TARGET <= HWY_AVX3
  _mm_prefetch(reinterpret_cast<const char*>(at), _MM_HINT_T1);
#else
  hwy::Prefetch(at);
#endif
}

template <class T>
HWY_INLINE void prefetch_rows(const Rows<T>& rows, std::ptrdiff_t first, std::ptrdiff_t count, std::ptrdiff_t dim) {
  const std::ptrdiff_t end = std::min(first + count, rows.count);
  for (std::ptrdiff_t r = first; r < end; ++r) {
    for (std::ptrdiff_t i = 0; i < dim; i += static_cast<std::ptrdiff_t>(64 / sizeof(T))) {
      prefetch(rows.data + r * rows.stride + i);
    }
  }
}

// Weights of keys first .. end of a block into t.p; `first` is a multiple of kGroup. `steps` null: only scaled.
// Groups count from the block's first key, whatever else is in the tile: a row's bits depend on its own keys only.
// The last group may reach beyond `k`; its hidden keys then repeat the last row.
template <int kWide, bool kSteps, class D, class T = hn::TFromD<D>>
HWY_NOINLINE void weights_of_keys(D d, const Rows<T>& k, std::ptrdiff_t pending, std::ptrdiff_t first,
                                  std::ptrdiff_t end, const Tile<T>& t, const ScoreSteps<T>& steps,
                                  const NextBlock<T>& next) {
  constexpr int kAtOnce = kGroupsAtOnce<kWide>, kRows = kGroup * kAtOnce;
  for (std::ptrdiff_t j = first; j < end; j += kRows) {
    const T* row[kRows];
    ATTN_UNROLL for (int r = 0; r < kRows; ++r) {
      row[r] = k.data + (kSteps ? std::min(j + r, k.count - 1) : j + r) * k.stride;
    }
    if (next.k.data != nullptr) {
      prefetch_rows(next.k, j, kRows, t.dim_qk);
      prefetch_rows(next.v, j, kRows, t.dim_v);
    }
    hn::Vec<D> s[kRows][kWide];
    dot_rows(d, row, t, s);
    ATTN_UNROLL for (int g = 0; g < kAtOnce; ++g) {
      if (kAtOnce > 1 && j + g * kGroup >= end) break;
      if constexpr (kSteps) finish_scores<kWide>(d, steps, t, j + g * kGroup, s + g * kGroup);
      softmax_group<kWide>(d, t, pending, j + g * kGroup, s + g * kGroup);
    }
  }
}

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
