// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set, by the kernels that multiply bf16 in pairs.
#if defined(ATTN_KERNELS_ATTENTION_PAIR_ROWS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_KERNELS_ATTENTION_PAIR_ROWS_INL_HPP
#undef ATTN_KERNELS_ATTENTION_PAIR_ROWS_INL_HPP
#else
#define ATTN_KERNELS_ATTENTION_PAIR_ROWS_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/attention.hpp"
#include "kernels/blocks-inl.hpp"

// Rows of bf16 into the pairs that products of bf16 take.
#if HWY_TARGET <= HWY_AVX3
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512bf16")
namespace attn::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// The 16 pairs from pair `first` on of a row of m, whose dims at or beyond `dim` count as 0.
HWY_INLINE __m512i load_pairs(const Matrix& m, std::ptrdiff_t row, std::ptrdiff_t first, std::ptrdiff_t dim) {
  const auto* x = static_cast<const std::uint16_t*>(m.data) + m.at_row(row) + 2 * first * m.column_stride;
  const std::ptrdiff_t count = std::min<std::ptrdiff_t>(dim - 2 * first, 32);
  if (m.column_stride == 1) {
    return _mm512_maskz_loadu_epi16(count == 32 ? ~__mmask32{0} : (__mmask32{1} << count) - 1, x);
  }
  std::uint16_t numbers[32] = {};
  for (std::ptrdiff_t i = 0; i < count; ++i) numbers[i] = x[i * m.column_stride];
  return _mm512_loadu_si512(numbers);
}

// to[column * stride + i] = row[i][column], for 16 rows of 16 words, whatever they are.
HWY_INLINE void transpose_words(const std::uint32_t (&rows)[16][16], std::ptrdiff_t stride, std::uint32_t* to) {
  const hn::ScalableTag<float> d;
  const float* row[16];
  for (int i = 0; i < 16; ++i) row[i] = reinterpret_cast<const float*>(rows[i]);
  for (std::ptrdiff_t c = 0; c < 16; c += 4) {
    hn::Vec<decltype(d)> v[4];
    ATTN_UNROLL for (int i = 0; i < 4; ++i) v[i] = load_blocks(d, row + i, c);
    transpose_blocks(d, v);
    ATTN_UNROLL for (int i = 0; i < 4; ++i) hn::StoreU(v[i], d, reinterpret_cast<float*>(to + (c + i) * stride));
  }
}

// to[pair][lane], of 16 rows of m from `first` on, of which `count` are there: the others repeat the last. `flip` is
// added to the bits of each pair: it holds their signs, or nothing.
inline void load_query_pairs(const Matrix& m, std::ptrdiff_t first, std::ptrdiff_t count, std::ptrdiff_t dim,
                             std::uint32_t flip, std::ptrdiff_t lanes, std::uint32_t* to) {
  for (std::ptrdiff_t i = 0; i * 2 < dim; i += 16) {
    alignas(64) std::uint32_t rows[16][16];
    for (std::ptrdiff_t r = 0; r < 16; ++r) {
      const __m512i pairs = load_pairs(m, first + std::min(r, count - 1), i, dim);
      _mm512_store_si512(rows[r], _mm512_xor_si512(pairs, _mm512_set1_epi32(static_cast<int>(flip))));
    }
    transpose_words(rows, lanes, to + i * lanes);
  }
}

// The 16 first, or last, numbers of two rows of 32, in pairs: each of `even` below that of `odd`.
HWY_INLINE __m512i first_of_both(__m512i even, __m512i odd) {
  const __m512i order = _mm512_set_epi16(47, 15, 46, 14, 45, 13, 44, 12, 43, 11, 42, 10, 41, 9, 40, 8, 39, 7, 38, 6, 37,
                                         5, 36, 4, 35, 3, 34, 2, 33, 1, 32, 0);
  return _mm512_permutex2var_epi16(even, order, odd);
}
HWY_INLINE __m512i last_of_both(__m512i even, __m512i odd) {
  const __m512i order = _mm512_set_epi16(63, 31, 62, 30, 61, 29, 60, 28, 59, 27, 58, 26, 57, 25, 56, 24, 55, 23, 54, 22,
                                         53, 21, 52, 20, 51, 19, 50, 18, 49, 17, 48, 16);
  return _mm512_permutex2var_epi16(even, order, odd);
}

// to[row][pair], `pairs` words a row, of `count` rows of m from `first` on; `rows` in all, the others 0.
inline void copy_pairs(const Matrix& m, std::ptrdiff_t first, std::ptrdiff_t count, std::ptrdiff_t rows,
                       std::ptrdiff_t dim, std::ptrdiff_t pairs, std::uint32_t* to) {
  for (std::ptrdiff_t r = 0; r < rows; ++r) {
    for (std::ptrdiff_t i = 0; i < pairs; i += 16) {
      _mm512_store_si512(to + r * pairs + i, r < count ? load_pairs(m, first + r, i, dim) : _mm512_setzero_si512());
    }
  }
}

// Whether `count` rows of m from `first` on hold numbers only.
inline bool are_finite(const Matrix& m, std::ptrdiff_t first, std::ptrdiff_t count, std::ptrdiff_t dim) {
  const __m512i magnitude = _mm512_set1_epi16(0x7fff), infinity = _mm512_set1_epi16(0x7f80);
  bool are = true;
  for (std::ptrdiff_t r = first; r < first + count; ++r) {
    for (std::ptrdiff_t c = 0; c < dim; c += 32) {
      const __m512i x = _mm512_and_si512(load_pairs(m, r, c / 2, dim), magnitude);
      if (_mm512_cmpge_epu16_mask(x, infinity) != 0) are = false;
    }
  }
  return are;
}

// to[dim][pair of keys], `stride` words a dim, of `keys` rows of m from `first` on; keys that fill the last 32, and
// dims that fill the last 16, are 0.
inline void load_value_pairs(const Matrix& m, std::ptrdiff_t first, std::ptrdiff_t keys, std::ptrdiff_t dim,
                             std::ptrdiff_t stride, std::uint32_t* to) {
  for (std::ptrdiff_t key = 0; key < keys; key += 32) {
    for (std::ptrdiff_t c = 0; c < dim; c += 32) {
      alignas(64) std::uint32_t left[16][16], right[16][16];
      for (std::ptrdiff_t i = 0; i < 16; ++i) {
        const std::ptrdiff_t r = key + 2 * i;
        const __m512i zero = _mm512_setzero_si512();
        const __m512i even = r < keys ? load_pairs(m, first + r, c / 2, dim) : zero;
        const __m512i odd = r + 1 < keys ? load_pairs(m, first + r + 1, c / 2, dim) : zero;
        _mm512_store_si512(left[i], first_of_both(even, odd));
        _mm512_store_si512(right[i], last_of_both(even, odd));
      }
      transpose_words(left, stride, to + c * stride + key / 2);
      if (c + 16 < dim) transpose_words(right, stride, to + (c + 16) * stride + key / 2);
    }
  }
}

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_POP_ATTRIBUTES
#endif  // HWY_TARGET <= HWY_AVX3

#endif
