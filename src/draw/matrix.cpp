// SPDX-License-Identifier: Apache-2.0
#include "draw/matrix.hpp"

#include <algorithm>
#include <attn/error.hpp>
#include <cmath>
#include <cstdio>

#include "base/concat.hpp"

namespace attn::draw {

View<const float, 2> checked_matrix(std::string_view where, std::string_view argument, const In<2>& values) {
  if (values.rank_found() != 2)
    throw Error(where, argument, base::concat("rank ", values.rank_found(), ", expected 2"));
  if (values.dtype() != DType::f32) {
    throw Error(where, argument, base::concat("dtype ", name_of(values.dtype()), ", expected f32"));
  }
  const View<const float, 2> matrix = values.as<const float>();
  if (matrix.data() == nullptr && matrix.size() != 0) {
    throw Error(where, argument,
                base::concat("null pointer, expected memory of shape ", base::shape_text(matrix.extents().n)));
  }
  return matrix;
}

View<const float, 2> checked_picture(std::string_view where, std::string_view argument, const In<2>& values) {
  const View<const float, 2> matrix = checked_matrix(where, argument, values);
  if (matrix.extent(0) < 1 || matrix.extent(1) < 1) {
    throw Error(
        where, argument,
        base::concat("shape ", base::shape_text(matrix.extents().n), ", expected at least one row and one column"));
  }
  return matrix;
}

void check_range(std::string_view where, const ValueRange& range) {
  if (!std::isfinite(range.min) || !std::isfinite(range.max) || !(range.min < range.max)) {
    throw Error(where, "range",
                base::concat("found ", range.min, " to ", range.max, ", expected finite ends, min below max"));
  }
  // Places on the scale are quotients of differences, which must neither overflow nor lose their digits.
  const double width = range.max - range.min;
  if (width < 1e-300 || width > 1e300) {
    throw Error(where, "range",
                base::concat("found ", range.min, " to ", range.max, ", expected ends 1e-300 to 1e300 apart"));
  }
}

double place_on(const ValueRange& range, double value) {
  if (std::isinf(value)) return value > 0 ? 1 : 0;
  return std::isnan(value) ? value : std::clamp((value - range.min) / (range.max - range.min), 0.0, 1.0);
}

std::string number_text(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value == 0 ? 0.0 : value);
  return text;
}

ValueRange value_range_of(std::span<const In<2>> matrices) {
  ValueRange range{0, 0};
  for (const In<2>& values : matrices) {
    const View<const float, 2> matrix = checked_matrix("value_range_of", "matrices", values);
    for (std::ptrdiff_t r = 0; r < matrix.extent(0); ++r) {
      for (std::ptrdiff_t c = 0; c < matrix.extent(1); ++c) {
        const double x = double{matrix(r, c)};
        if (!std::isfinite(x)) continue;
        range.min = std::min(range.min, x);
        range.max = std::max(range.max, x);
      }
    }
  }
  if (range.min == range.max) range.max = 1;
  return range;
}

}  // namespace attn::draw
