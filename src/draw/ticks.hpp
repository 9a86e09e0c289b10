// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/draw/value_range.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace attn::draw {

// The smallest of 1, 2, 5, 10, 20, 50, ... that is not below `least`.
std::ptrdiff_t round_step(double least);

struct Tick {
  double place = 0;  // on the scale, 0 at min and 1 at max
  std::string text;
};

// Both ends, and round values between them that keep `distance` (a share of the scale) from each other and the ends.
std::vector<Tick> ticks_of(const ValueRange& range, double distance);

}  // namespace attn::draw
