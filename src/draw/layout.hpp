// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/draw/figure.hpp>
#include <attn/draw/value_range.hpp>
#include <string>
#include <vector>

#include "draw/text.hpp"

namespace attn::draw {

// Where everything of a figure stands, in units. Panels and cells lie on whole pixels of the PNG.
struct FigureLayout {
  double width = 0, height = 0;
  double cell_width = 0, cell_height = 0;
  std::vector<Box> panels;
  Box bar;
  std::vector<Box> ticks;
  std::optional<Box> nan_swatch;
  std::vector<Text> texts;
  std::vector<std::string> notes;
};

// What a layout depends on beside the options.
struct FigureContent {
  std::ptrdiff_t rows = 0, columns = 0;  // of each panel
  std::vector<std::string> titles;       // one a panel
  ValueRange range;
  bool has_nan = false;
};

FigureLayout lay_out(const FigureContent& content, const FigureOptions& options, const TextRenderer& renderer);

}  // namespace attn::draw
