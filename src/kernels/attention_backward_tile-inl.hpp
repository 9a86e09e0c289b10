// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set, by the kernels of the backward.
#if defined(ATTN_KERNELS_ATTENTION_BACKWARD_TILE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_KERNELS_ATTENTION_BACKWARD_TILE_INL_HPP
#undef ATTN_KERNELS_ATTENTION_BACKWARD_TILE_INL_HPP
#else
#define ATTN_KERNELS_ATTENTION_BACKWARD_TILE_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/attention_backward_state.hpp"
#include "kernels/exp-inl.hpp"
#include "kernels/unroll.hpp"

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Lanes are queries in the products over a head dim (scores, dW) and in dq, and head dims in dk and dv, so that K, V
// and the blocks of pairs are read as scalar broadcasts and nothing is summed across lanes. A tile is kVectors vectors
// of queries wide, kRows keys (or head dims of dq) share each load of it; dk and dv go kKeys keys by kDims vectors of
// head dims. Accumulators, what they share and one broadcast fill the registers (32 with AVX-512, else 16).
#if HWY_TARGET <= HWY_AVX3
constexpr int kVectors = 4, kRows = 6, kKeys = 6, kDims = 4;
#else
constexpr int kVectors = 3, kRows = 4, kKeys = 6, kDims = 2;
#endif

// A tile with few queries has fewer vectors, and then more rows to each, so that as many sums are under way.
template <int kWide>
constexpr int kRowsAtOnce = std::min(12, kRows* kVectors / kWide);

// Calls f with the number of vectors that `queries` need, as a constant.
template <class D, class F>
HWY_INLINE void with_width(D, std::ptrdiff_t queries, const F& f) {
  constexpr std::ptrdiff_t kVector = static_cast<std::ptrdiff_t>(hn::MaxLanes(D()));
  if (queries <= kVector) {
    f(std::integral_constant<int, 1>());
  } else if (kVectors > 2 && queries <= 2 * kVector) {
    f(std::integral_constant<int, 2>());
  } else {
    f(std::integral_constant<int, kVectors>());
  }
}

template <class D>
constexpr std::ptrdiff_t kTile = kVectors* static_cast<std::ptrdiff_t>(hn::MaxLanes(D()));

// Which pairs of a block are visible, a bit each, as PairBits has them: a plane for each vector of queries, with
// kBitBytes for each key.
template <class D>
constexpr std::ptrdiff_t kBitBytes = hn::MaxLanes(D()) < 8 ? 1 : static_cast<std::ptrdiff_t>(hn::MaxLanes(D())) / 8;
template <class D>
constexpr std::ptrdiff_t kBitPlane = kMostBlockKeys* kBitBytes<D>;

template <class D>
HWY_INLINE hn::Mask<D> visible_of(D d, const std::uint8_t* bits, std::ptrdiff_t key, int vector) {
  return hn::LoadMaskBits(d, bits + vector * kBitPlane<D> + key * kBitBytes<D>);
}
template <class D>
HWY_INLINE bool is_visible(D, const std::uint8_t* bits, std::ptrdiff_t key, std::ptrdiff_t query) {
  constexpr std::ptrdiff_t kVector = static_cast<std::ptrdiff_t>(hn::MaxLanes(D()));
  const std::ptrdiff_t byte = query / kVector * kBitPlane<D> + query % kVector / 8;
  return (bits[key * kBitBytes<D> + byte] >> (query % kVector % 8) & 1) != 0;
}

// What is done with a row of products before it is stored.
enum class Finish { none, exp2, times };

// s[r][lane] = start[lane] + sum over i in order of rows[r][i] * tile[i][lane] for kCount rows; then 2 to the
// power of it, or its product with times[r][lane]. For the tile's first kWide vectors.
template <int kCount, int kWide, Finish kFinish, class D, class T = hn::TFromD<D>>
HWY_INLINE void dot_rows(D d, const T* HWY_RESTRICT rows, std::ptrdiff_t stride, const T* HWY_RESTRICT tile,
                         std::ptrdiff_t dim, const T* HWY_RESTRICT start, const T* HWY_RESTRICT times,
                         T* HWY_RESTRICT s) {
  const std::ptrdiff_t n = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  hn::Vec<D> sum[kCount][kWide];
  ATTN_UNROLL for (int w = 0; w < kWide; ++w) {
    const hn::Vec<D> first = hn::Load(d, start + w * n);
    ATTN_UNROLL for (int r = 0; r < kCount; ++r) sum[r][w] = first;
  }
  for (std::ptrdiff_t i = 0; i < dim; ++i) {
    hn::Vec<D> x[kWide];
    ATTN_UNROLL for (int w = 0; w < kWide; ++w) x[w] = hn::Load(d, tile + i * kTile<D> + w * n);
    ATTN_UNROLL for (int r = 0; r < kCount; ++r) {
      const hn::Vec<D> y = hn::Set(d, rows[r * stride + i]);
      ATTN_UNROLL for (int w = 0; w < kWide; ++w) sum[r][w] = hn::MulAdd(y, x[w], sum[r][w]);
    }
  }
  ATTN_UNROLL for (int r = 0; r < kCount; ++r) {
    ATTN_UNROLL for (int w = 0; w < kWide; ++w) {
      const std::ptrdiff_t at = r * kTile<D> + w * n;
      hn::Vec<D> result = sum[r][w];
      if constexpr (kFinish == Finish::exp2) result = exp2_bounded(d, result);
      if constexpr (kFinish == Finish::times) result = hn::Mul(result, hn::Load(d, times + at));
      hn::Store(result, d, s + at);
    }
  }
}

// The same for `count` rows.
template <int kWide, Finish kFinish, class D, class T = hn::TFromD<D>>
HWY_NOINLINE void dot_block(D d, const T* rows, std::ptrdiff_t stride, std::ptrdiff_t count, const T* tile,
                            std::ptrdiff_t dim, const T* start, const T* times, T* s) {
  constexpr int kMany = kRowsAtOnce<kWide>;
  std::ptrdiff_t r = 0;
  for (; r + kMany <= count; r += kMany) {
    dot_rows<kMany, kWide, kFinish>(d, rows + r * stride, stride, tile, dim, start, times + r * kTile<D>,
                                    s + r * kTile<D>);
  }
  for (; r + 4 <= count; r += 4) {
    dot_rows<4, kWide, kFinish>(d, rows + r * stride, stride, tile, dim, start, times + r * kTile<D>, s + r * kTile<D>);
  }
  for (; r < count; ++r) {
    dot_rows<1, kWide, kFinish>(d, rows + r * stride, stride, tile, dim, start, times + r * kTile<D>, s + r * kTile<D>);
  }
}

// sums[r][lane] += sum over keys in order of rows[key][r] * s[key][lane], for kCount columns of the rows. With kSelect,
// a hidden pair adds nothing even where the row is not finite.
template <int kCount, int kWide, bool kSelect, class D, class T = hn::TFromD<D>>
HWY_INLINE void add_columns(D d, const T* HWY_RESTRICT rows, std::ptrdiff_t stride, std::ptrdiff_t keys,
                            const T* HWY_RESTRICT s, const std::uint8_t* bits, T* HWY_RESTRICT sums) {
  const std::ptrdiff_t n = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  hn::Vec<D> sum[kCount][kWide];
  ATTN_UNROLL for (int r = 0; r < kCount; ++r) {
    ATTN_UNROLL for (int w = 0; w < kWide; ++w) sum[r][w] = hn::Load(d, sums + r * kTile<D> + w * n);
  }
  for (std::ptrdiff_t j = 0; j < keys; ++j) {
    hn::Vec<D> x[kWide];
    ATTN_UNROLL for (int w = 0; w < kWide; ++w) x[w] = hn::Load(d, s + j * kTile<D> + w * n);
    ATTN_UNROLL for (int r = 0; r < kCount; ++r) {
      const hn::Vec<D> y = hn::Set(d, rows[j * stride + r]);
      ATTN_UNROLL for (int w = 0; w < kWide; ++w) {
        const hn::Vec<D> next = hn::MulAdd(y, x[w], sum[r][w]);
        if constexpr (kSelect) {
          sum[r][w] = hn::IfThenElse(visible_of(d, bits, j, w), next, sum[r][w]);
        } else {
          sum[r][w] = next;
        }
      }
    }
  }
  ATTN_UNROLL for (int r = 0; r < kCount; ++r) {
    ATTN_UNROLL for (int w = 0; w < kWide; ++w) hn::Store(sum[r][w], d, sums + r * kTile<D> + w * n);
  }
}

// The same for `dim` columns: a block of keys adds to dq.
template <int kWide, bool kSelect, class D, class T = hn::TFromD<D>>
HWY_NOINLINE void add_keys(D d, const T* rows, std::ptrdiff_t stride, std::ptrdiff_t keys, const T* s,
                           const std::uint8_t* bits, std::ptrdiff_t dim, T* sums) {
  constexpr int kMany = kSelect ? 1 : kRowsAtOnce<kWide>, kFew = kSelect ? 1 : 4;
  std::ptrdiff_t r = 0;
  for (; r + kMany <= dim; r += kMany) {
    add_columns<kMany, kWide, kSelect>(d, rows + r, stride, keys, s, bits, sums + r * kTile<D>);
  }
  for (; r + kFew <= dim; r += kFew) {
    add_columns<kFew, kWide, kSelect>(d, rows + r, stride, keys, s, bits, sums + r * kTile<D>);
  }
  for (; r < dim; ++r) add_columns<1, kWide, kSelect>(d, rows + r, stride, keys, s, bits, sums + r * kTile<D>);
}

// Pairs of some keys with one tile after the other: [tile][key][lane], tiles kBackwardBlockKeys rows apart.
template <class D>
constexpr std::ptrdiff_t kTilePairs = kBackwardBlockKeys* kTile<D>;

// sums[r][lane of dim] += sum over queries in order of s[r][query] * rows[query][lane of dim], for kCount keys and
// kWide vectors of head dims. kSelect, for one tile only, as above.
template <int kCount, int kWide, bool kSelect, class D, class T = hn::TFromD<D>>
HWY_INLINE void add_rows(D d, const T* HWY_RESTRICT s, const std::uint8_t* bits, const T* HWY_RESTRICT rows,
                         std::ptrdiff_t stride, std::ptrdiff_t queries, T* HWY_RESTRICT sums,
                         std::ptrdiff_t sums_stride) {
  const std::ptrdiff_t n = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  hn::Vec<D> sum[kCount][kWide];
  ATTN_UNROLL for (int r = 0; r < kCount; ++r) {
    ATTN_UNROLL for (int w = 0; w < kWide; ++w) sum[r][w] = hn::Load(d, sums + r * sums_stride + w * n);
  }
  for (; queries > 0; queries -= kTile<D>, s += kTilePairs<D>) {
    const std::ptrdiff_t count = std::min(queries, kTile<D>);
    for (std::ptrdiff_t q = 0; q < count; ++q, rows += stride) {
      hn::Vec<D> x[kWide];
      ATTN_UNROLL for (int w = 0; w < kWide; ++w) x[w] = hn::Load(d, rows + w * n);
      ATTN_UNROLL for (int r = 0; r < kCount; ++r) {
        if (kSelect && !is_visible(d, bits, r, q)) continue;
        const hn::Vec<D> y = hn::Set(d, s[r * kTile<D> + q]);
        ATTN_UNROLL for (int w = 0; w < kWide; ++w) sum[r][w] = hn::MulAdd(y, x[w], sum[r][w]);
      }
    }
  }
  ATTN_UNROLL for (int r = 0; r < kCount; ++r) {
    ATTN_UNROLL for (int w = 0; w < kWide; ++w) hn::Store(sum[r][w], d, sums + r * sums_stride + w * n);
  }
}

template <int kWide, bool kSelect, class D, class T = hn::TFromD<D>>
HWY_INLINE void add_rows_of_keys(D d, const T* s, const std::uint8_t* bits, std::ptrdiff_t keys, const T* rows,
                                 std::ptrdiff_t stride, std::ptrdiff_t queries, T* sums, std::ptrdiff_t sums_stride) {
  constexpr int kMany = kSelect ? 1 : kKeys, kFew = kSelect ? 1 : 2;
  std::ptrdiff_t r = 0;
  const auto add = [&](auto count) HWY_ATTR {
    add_rows<decltype(count)::value, kWide, kSelect>(d, s + r * kTile<D>, bits + r * kBitBytes<D>, rows, stride,
                                                     queries, sums + r * sums_stride, sums_stride);
    r += decltype(count)::value;
  };
  while (r + kMany <= keys) add(std::integral_constant<int, kMany>());
  while (r + kFew <= keys) add(std::integral_constant<int, kFew>());
  while (r < keys) add(std::integral_constant<int, 1>());
}

// The same for `keys` keys and `dim` head dims, whole vectors of them, in rows `stride` apart: tiles of queries add to
// dk or dv.
template <bool kSelect, class D, class T = hn::TFromD<D>>
HWY_NOINLINE void add_queries(D d, const T* s, const std::uint8_t* bits, std::ptrdiff_t keys, const T* rows,
                              std::ptrdiff_t queries, std::ptrdiff_t dim, std::ptrdiff_t stride, T* sums) {
  const std::ptrdiff_t n = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  constexpr int kMany = kSelect ? 1 : kDims;
  std::ptrdiff_t c = 0;
  for (; c + kMany * n <= dim; c += kMany * n) {
    add_rows_of_keys<kMany, kSelect>(d, s, bits, keys, rows + c, stride, queries, sums + c, stride);
  }
  for (; c < dim; c += n) {
    add_rows_of_keys<1, kSelect>(d, s, bits, keys, rows + c, stride, queries, sums + c, stride);
  }
}

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
