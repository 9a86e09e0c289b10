// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <attn/any_view.hpp>
#include <attn/error.hpp>
#include <cstddef>
#include <numeric>
#include <string_view>

#include "base/concat.hpp"

namespace attn::ops {

// Whether no element is there. Not by the product, which may overflow.
template <int R>
constexpr bool is_empty(const Extents<R>& extents) {
  for (const std::ptrdiff_t n : extents.n) {
    if (n == 0) return true;
  }
  return false;
}

// Throws unless the view is of rank R and has memory wherever it has elements.
template <int R, Access A>
void check_view(std::string_view function, std::string_view argument, const BasicAnyView<R, A>& view) {
  if (view.rank_found() != R) {
    throw Error(function, argument, base::concat("rank ", view.rank_found(), ", expected ", R));
  }
  for (int d = 0; d < R; ++d) {
    if (view.extent(d) < 0) {
      throw Error(function, argument,
                  base::concat("extents ", base::shape_text(view.extents().n), ", expected 0 or more"));
    }
  }
  if (view.data() == nullptr && !is_empty(view.extents())) {
    throw Error(function, argument,
                base::concat("null pointer, expected memory for ", base::shape_text(view.extents().n)));
  }
}

template <int R, Access A>
void check_floating(std::string_view function, std::string_view argument, const BasicAnyView<R, A>& view) {
  check_view(function, argument, view);
  if (!is_floating(view.dtype())) {
    throw Error(function, argument, base::concat("dtype ", name_of(view.dtype()), ", expected f32, f64, bf16 or f16"));
  }
}

// Throws unless each element has a place of its own. That holds where every dimension steps over all that those with
// smaller strides span, as in row-major memory however it is permuted, sliced, padded or reversed. Layouts whose
// dimensions interleave without sharing a place are refused as well: they are not worth a search.
template <int R>
void check_places(std::string_view function, std::string_view argument, const BasicAnyView<R, Access::write>& view) {
  if (is_empty(view.extents())) return;
  const auto step = [&](int d) {
    const auto stride = static_cast<std::size_t>(view.stride(d));
    return view.stride(d) < 0 ? 0 - stride : stride;
  };
  std::array<int, R> order;  // of dimensions, by stride
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) { return step(a) < step(b); });
  std::size_t spanned = 0;  // elements from the first place to the last, of the dimensions so far, less one
  for (const int d : order) {
    if (view.extent(d) == 1) continue;
    if (step(d) <= spanned) {
      throw Error(function, argument,
                  base::concat("stride ", view.stride(d), " in dimension ", d, ", expected a magnitude of at least ",
                               spanned + 1, ": a place for each element"));
    }
    spanned += static_cast<std::size_t>(view.extent(d) - 1) * step(d);
  }
}

// Throws unless the view has these extents and, as an output, a place for each element.
template <int R, Access A>
void check_extents(std::string_view function, std::string_view argument, const BasicAnyView<R, A>& view,
                   const Extents<R>& expected, std::string_view meaning) {
  if (!(view.extents() == expected)) {
    throw Error(function, argument,
                base::concat("shape ", base::shape_text(view.extents().n), ", expected ", base::shape_text(expected.n),
                             " ", meaning));
  }
  if constexpr (A == Access::write) check_places(function, argument, view);
}

}  // namespace attn::ops
