// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set, by the kernels of the backward.
#if defined(ATTN_KERNELS_ATTENTION_BACKWARD_ROWS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_KERNELS_ATTENTION_BACKWARD_ROWS_INL_HPP
#undef ATTN_KERNELS_ATTENTION_BACKWARD_ROWS_INL_HPP
#else
#define ATTN_KERNELS_ATTENTION_BACKWARD_ROWS_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>

#include "base/convert.hpp"
#include "kernels/attention_backward.hpp"
#include "kernels/rows-inl.hpp"

// Rows of the backward's operands and gradients.
HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Rows of m, zeros without one, into rows that are `row` apart.
template <class D, class T = hn::TFromD<D>>
void load_padded(D d, const Matrix& m, std::ptrdiff_t count, std::ptrdiff_t dim, std::ptrdiff_t row, T* dst) {
  if (!m.wanted() || row != dim) std::fill_n(dst, count * row, T{0});
  if (!m.wanted()) return;
  const bool is_dense = m.dtype == dtype_of<T> && m.column_stride == 1;
  for (std::ptrdiff_t r = 0; r < count; ++r) {
    if (is_dense) {
      std::copy_n(element_of<T>(m, r, 0), dim, dst + r * row);
    } else {
      load_row(d, m, r, 0, dim, dst + r * row);
    }
  }
}

// m from row r on.
inline Matrix from_row(Matrix m, std::ptrdiff_t r) {
  m.data = static_cast<const char*>(m.data) + m.at_row(r) * static_cast<std::ptrdiff_t>(size_of(m.dtype));
  return m;
}

template <class T>
Matrix rows_of(const T* rows, std::ptrdiff_t stride) {
  return {.dtype = dtype_of<T>, .data = rows, .row_stride = stride, .column_stride = 1};
}

inline double number(const Column& column, std::ptrdiff_t i) {
  return column.dtype == DType::none ? 0 : base::load_as<double>(column.dtype, column.data, i * column.stride);
}

// Stores factor * row, or adds it to what is there. `row` changes.
template <class D, class T = hn::TFromD<D>>
void put_row(D d, T* row, T factor, std::ptrdiff_t dim, bool adds, const MutableMatrix& out, std::ptrdiff_t r) {
  // Adding 0 turns -0 into +0, so that skipping hidden keys and adding their zeros agree in every bit.
  for (std::ptrdiff_t c = 0; c < dim; ++c) row[c] = row[c] * factor + T{0};
  if (out.dtype == dtype_of<T> && out.column_stride == 1) {
    T* to = static_cast<T*>(out.data) + r * out.row_stride;
    if (!adds) std::fill_n(to, dim, T{0});
    for (std::ptrdiff_t c = 0; c < dim; ++c) to[c] += row[c];
    return;
  }
  if (adds) {
    for (std::ptrdiff_t c = 0; c < dim; ++c) {
      row[c] += base::load_as<T>(out.dtype, out.data, r * out.row_stride + c * out.column_stride);
    }
  }
  store_row(d, row, dim, out, r);
}

// sum over i of x[i] * y[i], vector by vector; whole vectors.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE T dot(D d, const T* x, const T* y, std::ptrdiff_t count) {
  hn::Vec<D> sum = hn::Zero(d);
  for (std::ptrdiff_t i = 0; i < count; i += static_cast<std::ptrdiff_t>(hn::Lanes(d))) {
    sum = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), sum);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
