// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set, by kernels/attention_backward_bf16.cpp.
#if defined(ATTN_KERNELS_ATTENTION_BACKWARD_PAIR_ROWS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_KERNELS_ATTENTION_BACKWARD_PAIR_ROWS_INL_HPP
#undef ATTN_KERNELS_ATTENTION_BACKWARD_PAIR_ROWS_INL_HPP
#else
#define ATTN_KERNELS_ATTENTION_BACKWARD_PAIR_ROWS_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/attention_pair_rows-inl.hpp"
#include "kernels/attention_units-inl.hpp"

// Rows of bf16, and blocks of f32 rounded to it, in the pairs that the backward's products take.
#if HWY_TARGET <= HWY_AVX3
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512bf16")
namespace attn::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// to[pair of rows][dim], `stride` words a pair, of the `count` rows of m; of `rows` in all, the others 0, as are dims
// that fill the last 16.
inline void load_row_pairs(const Matrix& m, std::ptrdiff_t count, std::ptrdiff_t rows, std::ptrdiff_t dim,
                           std::ptrdiff_t stride, std::uint32_t* to) {
  const __m512i zero = _mm512_setzero_si512();
  for (std::ptrdiff_t r = 0; r < rows; r += 2, to += stride) {
    for (std::ptrdiff_t c = 0; c < dim; c += 32) {
      const __m512i even = r < count ? load_pairs(m, r, c / 2, dim) : zero;
      const __m512i odd = r + 1 < count ? load_pairs(m, r + 1, c / 2, dim) : zero;
      _mm512_store_si512(to + c, first_of_both(even, odd));
      if (c + 16 < dim) _mm512_store_si512(to + c + 16, last_of_both(even, odd));
    }
  }
}

// 32 numbers rounded to bf16, in their order.
HWY_INLINE __m512i narrow_both(const float* x) {
  return reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(_mm512_load_ps(x + 16), _mm512_load_ps(x)));
}

// to[key][pair of queries], `stride` words a key, of a block of pairs: `keys` rows of `lanes` numbers, of which the
// first `queries`, a multiple of 32, are taken. Keys that fill the last 32 are 0.
inline void narrow_rows(const float* block, std::ptrdiff_t lanes, std::ptrdiff_t keys, std::ptrdiff_t queries,
                        std::ptrdiff_t stride, std::uint32_t* to) {
  std::ptrdiff_t j = 0;
  for (; j < keys; ++j, block += lanes, to += stride) {
    for (std::ptrdiff_t i = 0; i < queries; i += 32) _mm512_store_si512(to + i / 2, narrow_both(block + i));
  }
  for (; j % 32 != 0; ++j, to += stride) std::fill_n(to, queries / 2, 0u);
}

// The same, and columns[pair of keys][query] besides, `lanes` words a pair.
inline void narrow_rows_and_columns(const float* block, std::ptrdiff_t lanes, std::ptrdiff_t keys,
                                    std::ptrdiff_t queries, std::ptrdiff_t stride, std::uint32_t* to,
                                    std::uint32_t* columns) {
  const std::ptrdiff_t all = (keys + 31) / 32 * 32;
  for (std::ptrdiff_t j = 0; j < all; j += 2, block += 2 * lanes, to += 2 * stride, columns += lanes) {
    for (std::ptrdiff_t i = 0; i < queries; i += 32) {
      const float *first = block + i, *second = first + lanes;
      const __m512i even = j < keys ? narrow_both(first) : _mm512_setzero_si512();
      const __m512i odd = j + 1 < keys ? narrow_both(second) : _mm512_setzero_si512();
      _mm512_store_si512(to + i / 2, even);
      _mm512_store_si512(to + stride + i / 2, odd);
      _mm512_store_si512(columns + i, first_of_both(even, odd));
      _mm512_store_si512(columns + i + 16, last_of_both(even, odd));
    }
  }
}

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_POP_ATTRIBUTES
#endif  // HWY_TARGET <= HWY_AVX3

#endif
