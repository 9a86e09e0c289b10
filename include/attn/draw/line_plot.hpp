// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/draw/figure.hpp>
#include <span>
#include <string>
#include <vector>

namespace attn::draw {

inline namespace ATTN_ABI {

// One curve: the points (x[i], y[i]) joined in the order given. Where y is not finite the curve is broken.
struct Line {
  std::vector<double> x = {};
  std::vector<double> y = {};
  // Beside its colour in the legend, UTF-8; empty for none.
  std::string name = {};
};

// Lengths are in units, as in FigureOptions.
struct LinePlotOptions {
  std::string title = {};
  std::string x_title = {};
  std::string y_title = {};
  double width = 720;
  double height = 420;
  std::string font_family = "sans-serif";
  double font_size = 11;
  // Pixels of the PNG per unit.
  double png_scale = 2;
};

}  // namespace ATTN_ABI

// The bytes of a picture of up to 8 curves over labelled axes, whose ends are the smallest and largest finite values.
// Throws Error for no lines or too many, x and y of different lengths, an x that is not finite, no finite point at all,
// and options out of range.
ATTN_API std::string line_plot(std::span<const Line> lines, FigureFormat format, const LinePlotOptions& options = {});

}  // namespace attn::draw
