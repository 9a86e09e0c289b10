// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/draw/colormap.hpp>
#include <cstdint>
#include <vector>

#include "draw/layout.hpp"

namespace attn::draw {

// The cells of a panel, row-major, 0x00RRGGBB each: what Cairo calls CAIRO_FORMAT_RGB24.
using Pixels = std::vector<std::uint32_t>;

// What a figure is made of.
struct Scene {
  FigureLayout layout;
  std::ptrdiff_t rows = 0, columns = 0;  // of each panel
  std::vector<Pixels> panels;
  Colormap colormap = Colormap::blues();
  double pixel = 1;  // of the PNG, in units
};

// Draws it in units from (0, 0), the same way on every kind of surface.
void paint(cairo_t* canvas, const Scene& scene, const TextRenderer& renderer);

}  // namespace attn::draw
