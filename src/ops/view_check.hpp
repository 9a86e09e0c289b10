// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/any_view.hpp>
#include <attn/error.hpp>
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

// Throws unless the view has these extents and, as an output, no dimension in which elements share a place.
template <int R, Access A>
void check_extents(std::string_view function, std::string_view argument, const BasicAnyView<R, A>& view,
                   const Extents<R>& expected, std::string_view meaning) {
  if (!(view.extents() == expected)) {
    throw Error(function, argument,
                base::concat("shape ", base::shape_text(view.extents().n), ", expected ", base::shape_text(expected.n),
                             " ", meaning));
  }
  if constexpr (A == Access::write) {
    for (int d = 0; d < R; ++d) {
      if (view.stride(d) == 0 && view.extent(d) > 1 && !is_empty(view.extents())) {
        throw Error(function, argument,
                    base::concat("stride 0 in dimension ", d, ", expected a place for each element"));
      }
    }
  }
}

}  // namespace attn::ops
