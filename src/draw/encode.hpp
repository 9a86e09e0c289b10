// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/draw/figure.hpp>
#include <cstddef>
#include <functional>
#include <string>

#include "draw/cairo.hpp"

namespace attn::draw {

// A picture that is ready to be painted, in units from (0, 0), the same way on every kind of surface.
struct Drawing {
  double width = 0, height = 0;
  double pixel = 1;  // of the PNG, in units
  std::function<void(cairo_t*)> paint;
  // Images of this size show a value a pixel, which a viewer must not smooth.
  std::ptrdiff_t image_columns = 0, image_rows = 0;
};

// The bytes of a file that shows it. The same drawing gives the same bytes. Throws Error when Cairo fails.
std::string encode(const Drawing& drawing, FigureFormat format);

}  // namespace attn::draw
