// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/any_view.hpp>

#include "kernels/attention.hpp"

namespace attn::ops {

// `elements` on from `data`. Null stays null: an operand without elements need not have memory.
inline const void* advanced(const void* data, DType dtype, std::ptrdiff_t elements) {
  if (data == nullptr) return nullptr;
  return static_cast<const char*>(data) + elements * static_cast<std::ptrdiff_t>(size_of(dtype));
}

// Rows `first` on of one head, as a matrix of (token, dim).
inline kernels::Matrix rows_of(const In<4>& view, std::ptrdiff_t batch, std::ptrdiff_t head, std::ptrdiff_t first) {
  const std::ptrdiff_t at = batch * view.stride(0) + head * view.stride(1) + first * view.stride(2);
  return {.dtype = view.dtype(),
          .data = advanced(view.data(), view.dtype(), at),
          .row_stride = view.stride(2),
          .column_stride = view.stride(3)};
}

inline kernels::MutableMatrix rows_of(const Out<4>& view, std::ptrdiff_t batch, std::ptrdiff_t head,
                                      std::ptrdiff_t first) {
  const kernels::Matrix rows = rows_of(In<4>(view), batch, head, first);
  return {.dtype = rows.dtype,
          .data = const_cast<void*>(rows.data),
          .row_stride = rows.row_stride,
          .column_stride = rows.column_stride};
}

}  // namespace attn::ops
