// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/any_view.hpp>
#include <attn/draw/value_range.hpp>
#include <string>
#include <string_view>

namespace attn::draw {

// The f32 matrix behind `values`. Throws Error, naming `where` and `argument`, for another dtype or rank or a null
// pointer.
View<const float, 2> checked_matrix(std::string_view where, std::string_view argument, const In<2>& values);

// As above, and refuses an empty matrix.
View<const float, 2> checked_picture(std::string_view where, std::string_view argument, const In<2>& values);

// Throws Error unless min < max and both are finite.
void check_range(std::string_view where, const ValueRange& range);

// The place of `value` on the scale, 0 at min and 1 at max; NaN stays NaN.
double place_on(const ValueRange& range, double value);

// "0.125", "-1.5e-06": `digits` significant digits, never "-0".
std::string number_text(double value, int digits);

}  // namespace attn::draw
