// SPDX-License-Identifier: Apache-2.0
#include "draw/ansi.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>

#include "base/concat.hpp"

namespace attn::draw {
namespace {

constexpr std::array<int, 6> kCubeLevels = {0, 95, 135, 175, 215, 255};

int nearest_level(int value) {
  const auto nearer = [value](int a, int b) { return std::abs(a - value) < std::abs(b - value); };
  return static_cast<int>(std::min_element(kCubeLevels.begin(), kCubeLevels.end(), nearer) - kCubeLevels.begin());
}

int distance(Rgb a, int red, int green, int blue) {
  return (a.red - red) * (a.red - red) + (a.green - green) * (a.green - green) + (a.blue - blue) * (a.blue - blue);
}

}  // namespace

std::string full_background(Rgb c) {
  return base::concat("\x1b[48;2;", int{c.red}, ';', int{c.green}, ';', int{c.blue}, 'm');
}

int palette_index(Rgb c) {
  const int r = nearest_level(c.red), g = nearest_level(c.green), b = nearest_level(c.blue);
  const auto level = [](int i) { return kCubeLevels[static_cast<std::size_t>(i)]; };
  // Greys run from 8 to 238 in steps of 10.
  const int step = std::clamp(((c.red + c.green + c.blue) / 3 - 3) / 10, 0, 23);
  const int grey = 8 + 10 * step;
  const bool is_grey = distance(c, grey, grey, grey) < distance(c, level(r), level(g), level(b));
  return is_grey ? 232 + step : 16 + 36 * r + 6 * g + b;
}

std::string palette_background(Rgb c) { return base::concat("\x1b[48;5;", palette_index(c), 'm'); }

}  // namespace attn::draw
