// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/any_view.hpp>
#include <attn/draw/colormap.hpp>
#include <attn/draw/value_range.hpp>
#include <attn/export.hpp>
#include <attn/version.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace attn::draw {

// What a terminal can show: shades of block characters only, the 256 colours of xterm, or 24-bit colours.
enum class TerminalColours { none, palette, full };

inline namespace ATTN_ABI {

struct TerminalOptions {
  // Names of the rows and columns, UTF-8; one for each, or none at all. Column labels that do not fit above their cells
  // are written downwards.
  std::vector<std::string> row_labels = {};
  std::vector<std::string> column_labels = {};
  std::string title = {};
  Colormap colormap = Colormap::viridis();
  // The ends of the colour scale; without it, value_range_of the matrix.
  std::optional<ValueRange> range = {};
  TerminalColours colours = TerminalColours::full;
  // Columns of the terminal, 40 or more. What does not fit is left out, and a last line says so.
  std::ptrdiff_t max_width = 80;
};

}  // namespace ATTN_ABI

// A heat map of `values` (rows, columns), f32, as lines of UTF-8 text, each ending in a newline: title, column labels,
// a line for each row, the scale. Colours are ANSI escape sequences, reset at the end of each line. Throws Error for an
// empty or non-f32 matrix, a number of labels other than that of the rows or columns, and options out of range.
ATTN_API std::string terminal_heat_map(const In<2>& values, const TerminalOptions& options = {});

}  // namespace attn::draw
