// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set, inside kernels that use it.
#if defined(ATTN_KERNELS_ROWS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_KERNELS_ROWS_INL_HPP
#undef ATTN_KERNELS_ROWS_INL_HPP
#else
#define ATTN_KERNELS_ROWS_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <attn/dtype.hpp>
#include <cstddef>
#include <cstdint>

#include "base/convert.hpp"
#include "kernels/attention.hpp"
#include "kernels/blocks-inl.hpp"
#include "kernels/unroll.hpp"

// Rows of any dtype and stride into rows of the compute type, and rows into columns and back.
HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// The processor's own conversion of f16; elsewhere Highway's emulation is no faster than ours.
constexpr bool kConvertsF16 = HWY_TARGET <= HWY_AVX2 || HWY_TARGET == HWY_NEON;

template <class T>
HWY_INLINE const T* element_of(const Matrix& m, std::ptrdiff_t row, std::ptrdiff_t column) {
  return static_cast<const T*>(m.data) + m.at_row(row) + column * m.column_stride;
}

// dst[i] = x[i], widened. Reads and writes `count` elements.
template <class D>
HWY_INLINE void widen_bf16(D d, const bf16* x, std::ptrdiff_t count, float* dst) {
  const hn::Rebind<std::uint16_t, D> d16;
  const hn::RebindToUnsigned<D> d32;
  const std::ptrdiff_t n = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  std::ptrdiff_t i = 0;
  for (; i + n <= count; i += n) {
    const auto bits = hn::LoadU(d16, reinterpret_cast<const std::uint16_t*>(x + i));
    hn::StoreU(hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(d32, bits))), d, dst + i);
  }
  for (; i < count; ++i) dst[i] = base::widen(x[i]);
}

template <class D>
HWY_INLINE void widen_f16(D d, const f16* x, std::ptrdiff_t count, float* dst) {
  std::ptrdiff_t i = 0;
  if constexpr (kConvertsF16) {
    const hn::Rebind<hwy::float16_t, D> d16;
    const std::ptrdiff_t n = static_cast<std::ptrdiff_t>(hn::Lanes(d));
    for (; i + n <= count; i += n) {
      const auto half = hn::LoadU(d16, reinterpret_cast<const hwy::float16_t*>(x + i));
      hn::StoreU(hn::PromoteTo(d, half), d, dst + i);
    }
  }
  for (; i < count; ++i) dst[i] = base::widen(x[i]);
}

// Columns `first` .. first + count of a row of m as the compute type.
template <class D, class T = hn::TFromD<D>>
void load_row(D d, const Matrix& m, std::ptrdiff_t row, std::ptrdiff_t first, std::ptrdiff_t count, T* dst) {
  if constexpr (sizeof(T) == 4) {
    if (m.column_stride == 1 && m.dtype == DType::bf16)
      return widen_bf16(d, element_of<bf16>(m, row, first), count, dst);
    if (m.column_stride == 1 && m.dtype == DType::f16) return widen_f16(d, element_of<f16>(m, row, first), count, dst);
  }
  const std::ptrdiff_t at = m.at_row(row);
  if (m.dtype == dtype_of<T>) {
    const T* from = static_cast<const T*>(m.data) + at;
    for (std::ptrdiff_t i = 0; i < count; ++i) dst[i] = from[(first + i) * m.column_stride];
  } else {
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      dst[i] = base::load_as<T>(m.dtype, m.data, at + (first + i) * m.column_stride);
    }
  }
}

template <class D, class T = hn::TFromD<D>>
bool all_finite(D d, const T* rows, std::ptrdiff_t row_stride, std::ptrdiff_t count, std::ptrdiff_t dim) {
  // x - x is 0 for finite x and NaN otherwise.
  const std::ptrdiff_t n = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  hn::Vec<D> seen = hn::Zero(d);
  T rest = 0;
  for (std::ptrdiff_t r = 0; r < count; ++r, rows += row_stride) {
    std::ptrdiff_t i = 0;
    for (; i + n <= dim; i += n) {
      const hn::Vec<D> x = hn::LoadU(d, rows + i);
      seen = hn::Or(seen, hn::Sub(x, x));
    }
    for (; i < dim; ++i) rest += rows[i] - rows[i];
  }
  return rest == 0 && hn::AllTrue(d, hn::Eq(seen, hn::Zero(d)));
}

// to[i] = x[i] rounded once, for `count` elements.
template <class D>
HWY_INLINE void narrow_bf16(D d, const float* x, std::ptrdiff_t count, bf16* to) {
  const hn::RebindToUnsigned<D> d32;
  const hn::RebindToSigned<D> i32;
  const hn::Rebind<std::uint16_t, D> d16;
  const std::ptrdiff_t n = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  std::ptrdiff_t i = 0;
  for (; i + n <= count; i += n) {
    const auto value = hn::LoadU(d, x + i);
    const auto bits = hn::BitCast(d32, value);
    const auto even = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 1u));
    const auto rounded = hn::Add(hn::Add(bits, hn::Set(d32, 0x7fffu)), even);
    const auto quiet = hn::Or(bits, hn::Set(d32, 0x400000u));
    const auto chosen = hn::IfThenElse(hn::RebindMask(d32, hn::Ne(value, value)), quiet, rounded);
    const auto half = hn::DemoteTo(d16, hn::BitCast(i32, hn::ShiftRight<16>(chosen)));
    hn::StoreU(half, d16, reinterpret_cast<std::uint16_t*>(to + i));
  }
  for (; i < count; ++i) to[i] = base::narrow_bf16(x[i]);
}

template <class D>
HWY_INLINE void narrow_f16(D d, const float* x, std::ptrdiff_t count, f16* to) {
  std::ptrdiff_t i = 0;
  if constexpr (kConvertsF16) {
    const hn::Rebind<hwy::float16_t, D> d16;
    const std::ptrdiff_t n = static_cast<std::ptrdiff_t>(hn::Lanes(d));
    for (; i + n <= count; i += n) {
      hn::StoreU(hn::DemoteTo(d16, hn::LoadU(d, x + i)), d16, reinterpret_cast<hwy::float16_t*>(to + i));
    }
  }
  for (; i < count; ++i) to[i] = base::narrow_f16(x[i]);
}

template <class D, class T = hn::TFromD<D>>
void store_row(D d, const T* x, std::ptrdiff_t count, const MutableMatrix& out, std::ptrdiff_t row) {
  const std::ptrdiff_t at = out.at_row(row);
  if constexpr (sizeof(T) == 4) {
    if (out.column_stride == 1 && out.dtype == DType::bf16) {
      return narrow_bf16(d, x, count, static_cast<bf16*>(out.data) + at);
    }
    if (out.column_stride == 1 && out.dtype == DType::f16) {
      return narrow_f16(d, x, count, static_cast<f16*>(out.data) + at);
    }
  }
  for (std::ptrdiff_t i = 0; i < count; ++i) base::store_as(out.dtype, out.data, at + i * out.column_stride, x[i]);
}

// dst[c * lanes + i] = factor * row[i][c], i over one vector of rows, c over `columns`.
template <class D, class T = hn::TFromD<D>>
void rows_to_columns([[maybe_unused]] D d, const T* const* row, std::ptrdiff_t columns, T factor, std::ptrdiff_t lanes,
                     T* dst) {
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(D());
  [[maybe_unused]] constexpr std::ptrdiff_t kBlock = 16 / sizeof(T);
  std::ptrdiff_t c = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kLanes >= kBlock) {
    const hn::Vec<D> f = hn::Set(d, factor);
    for (; c + kBlock <= columns; c += kBlock) {
      hn::Vec<D> v[kBlock];
      ATTN_UNROLL for (int i = 0; i < kBlock; ++i) v[i] = load_blocks(d, row + i, c);
      transpose_blocks(d, v);
      ATTN_UNROLL for (int i = 0; i < kBlock; ++i) hn::StoreU(hn::Mul(v[i], f), d, dst + (c + i) * lanes);
    }
  }
#endif
  for (; c < columns; ++c) {
    for (std::ptrdiff_t i = 0; i < kLanes; ++i) dst[c * lanes + i] = row[i][c] * factor;
  }
}

// row[i][c] = src[c * lanes + i] * factor[i] + 0, for one vector of rows. Adding 0 turns -0 into +0, so that skipping a
// block of hidden keys and adding its zeros agree in every bit.
template <class D, class T = hn::TFromD<D>>
void columns_to_rows([[maybe_unused]] D d, const T* src, std::ptrdiff_t lanes, const T* factor, std::ptrdiff_t columns,
                     T* const* row) {
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(D());
  [[maybe_unused]] constexpr std::ptrdiff_t kBlock = 16 / sizeof(T);
  std::ptrdiff_t c = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kLanes >= kBlock) {
    const hn::Vec<D> f = hn::LoadU(d, factor), zero = hn::Zero(d);
#if HWY_TARGET <= HWY_AVX3
    if constexpr (kLanes == 16) {
      for (; c + 16 <= columns; c += 16) columns_to_lines(d, src, lanes, f, c, row);
    }
#endif
    for (; c + kBlock <= columns; c += kBlock) {
      hn::Vec<D> v[kBlock];
      ATTN_UNROLL for (int i = 0; i < kBlock; ++i) {
        v[i] = hn::Add(hn::Mul(hn::LoadU(d, src + (c + i) * lanes), f), zero);
      }
      transpose_blocks(d, v);
      ATTN_UNROLL for (int i = 0; i < kBlock; ++i) store_blocks(d, v[i], row + i, c);
    }
  }
#endif
  for (; c < columns; ++c) {
    for (std::ptrdiff_t i = 0; i < kLanes; ++i) row[i][c] = src[c * lanes + i] * factor[i] + T{0};
  }
}

// Columns of rows of m as a tile: dst[c * lanes + i] = factor * m(first + i, column + c) for i < width, c < columns.
// Lanes beyond `count` repeat the last row. `spare` holds a vector's worth of rows of `columns` numbers.
template <class D, class T = hn::TFromD<D>>
void load_tile(D d, const Matrix& m, std::ptrdiff_t first, std::ptrdiff_t count, std::ptrdiff_t column,
               std::ptrdiff_t columns, T factor, std::ptrdiff_t lanes, std::ptrdiff_t width, T* spare, T* dst) {
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(D());
  const bool in_place = m.dtype == dtype_of<T> && m.column_stride == 1;
  for (std::ptrdiff_t lane = 0; lane < width; lane += kLanes) {
    const T* row[kLanes];
    for (std::ptrdiff_t i = 0; i < kLanes; ++i) {
      const std::ptrdiff_t r = first + std::min(lane + i, count - 1);
      if (in_place) {
        row[i] = element_of<T>(m, r, column);
      } else if (i > 0 && lane + i >= count) {
        row[i] = row[i - 1];
      } else {
        load_row(d, m, r, column, columns, spare + i * columns);
        row[i] = spare + i * columns;
      }
    }
    rows_to_columns(d, row, columns, factor, lanes, dst + lane);
  }
}

// out(first + i, c) = src[c * lanes + i] * factor[i], for i < count, c < columns. `spare` as above.
template <class D, class T = hn::TFromD<D>>
void store_tile(D d, const T* src, std::ptrdiff_t lanes, const T* factor, const MutableMatrix& out,
                std::ptrdiff_t first, std::ptrdiff_t count, std::ptrdiff_t columns, T* spare) {
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(D());
  const bool in_place = out.dtype == dtype_of<T> && out.column_stride == 1;
  for (std::ptrdiff_t lane = 0; lane < count; lane += kLanes) {
    const std::ptrdiff_t rows = std::min(kLanes, count - lane);
    T* row[kLanes];
    for (std::ptrdiff_t i = 0; i < kLanes; ++i) {
      const bool direct = in_place && i < rows;
      row[i] = direct ? static_cast<T*>(out.data) + out.at_row(first + lane + i) : spare + i * columns;
    }
    columns_to_rows(d, src + lane, lanes, factor + lane, columns, row);
    if (in_place) continue;
    for (std::ptrdiff_t i = 0; i < rows; ++i) store_row(d, row[i], columns, out, first + lane + i);
  }
}

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
