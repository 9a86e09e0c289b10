// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/any_view.hpp>
#include <cstddef>
#include <vector>

#include "base/convert.hpp"

namespace attn::kernels::reference {

// Element (i, j, ...) of a view of any dtype. An extent of 1 is broadcast.
template <int R>
double element(const In<R>& x, const Extents<R>& index) {
  std::ptrdiff_t at = 0;
  for (int d = 0; d < R; ++d) at += (x.extent(d) == 1 ? 0 : index[d]) * x.stride(d);
  return base::load_as<double>(x.dtype(), x.data(), at);
}

// Tokens begin ... begin + count of one head as a (count, D) matrix of f64.
inline std::vector<double> gather(const In<4>& x, std::ptrdiff_t b, std::ptrdiff_t h, std::ptrdiff_t begin,
                                  std::ptrdiff_t count) {
  std::vector<double> rows;
  rows.reserve(static_cast<std::size_t>(count * x.extent(3)));
  for (std::ptrdiff_t t = begin; t < begin + count; ++t) {
    for (std::ptrdiff_t d = 0; d < x.extent(3); ++d) rows.push_back(element<4>(x, {b, h, t, d}));
  }
  return rows;
}

}  // namespace attn::kernels::reference
