// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/any_view.hpp>
#include <attn/draw/colormap.hpp>
#include <attn/draw/value_range.hpp>
#include <attn/export.hpp>
#include <attn/version.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace attn::draw {

inline namespace ATTN_ABI {

// One heat map of a figure.
struct Panel {
  // (rows, columns), f32. Row 0 is drawn on top.
  In<2> values = {};
  // Shown above it, UTF-8; cut in the middle where it is wider than the panel's place.
  std::string title = {};
};

// Lengths are in units: 1/96 inch on paper, one CSS pixel in SVG, `png_scale` pixels in PNG.
struct FigureOptions {
  // Panels side by side; 0 chooses the grid nearest to a square.
  std::ptrdiff_t columns = 0;
  // Names of the rows and columns of every panel, UTF-8, in any script; one for each, or none at all. They stand at the
  // left and lower edge of the grid.
  std::vector<std::string> row_labels = {};
  std::vector<std::string> column_labels = {};
  // Over the whole figure, beside the row labels, below the column labels, beside the colour bar; empty for none.
  std::string title = {};
  std::string row_title = {};
  std::string column_title = {};
  std::string scale_title = {};
  Colormap colormap = Colormap::blues();
  // The ends of the one colour scale; without it, value_range_of all panels.
  std::optional<ValueRange> range = {};
  // Side of a cell; 0 chooses it, so that labels fit and the figure keeps to max_width. Rounded to whole pixels of the
  // PNG.
  double cell_size = 0;
  // A wish: cells are never smaller than one pixel of the PNG, so that no value is left out.
  double max_width = 1600;
  // What Pango takes: "sans-serif", "DejaVu Sans, Noto Sans". Glyphs it lacks come from other fonts of the system.
  std::string font_family = "sans-serif";
  // Height of labels; they shrink to 6 where cells are small, below that only every n-th is drawn, and a note says so.
  double font_size = 11;
  // Pixels of the PNG per unit; 2 stays sharp on dense displays.
  double png_scale = 2;
};

}  // namespace ATTN_ABI

enum class FigureFormat { png, svg, pdf };

class Figure;

// A grid of heat maps, filled row by row, with one stated colour scale. All panels have one shape; their values are
// read here and not kept. Invalid UTF-8 is shown as U+FFFD. Throws Error for no panels, an empty or non-f32 matrix,
// panels of different shapes, a number of labels other than that of the rows or columns, options out of range, and a
// picture of more than 32767 pixels a side or 2^28 in all. Time: a few seconds for 144 panels of 256 x 256, encoding
// included; memory: 4 bytes a cell and 4 bytes a pixel.
ATTN_API Figure make_grid(std::span<const Panel> panels, const FigureOptions& options = {});

// A picture, laid out and ready to be written; holds the colours of the cells, not the values. Immutable, but for one
// thread at a time: Pango's font caches lie behind it.
class ATTN_API Figure {
 public:
  Figure(Figure&&) noexcept;
  Figure& operator=(Figure&&) noexcept;
  ~Figure();

  // The bytes of the file; the caller writes them. One routine draws all three: in SVG and PDF text is outlines and
  // cells are rectangles, an image of one pixel a cell when there are more than 6000. The same figure gives the same
  // bytes on the same machine. Throws Error when Cairo fails.
  std::string encode(FigureFormat format) const;

  // Size in units.
  double width() const noexcept;
  double height() const noexcept;
  // What the picture leaves out, one sentence each, as it is written below it; empty when nothing is.
  const std::vector<std::string>& notes() const noexcept;
  // Titles and labels for which no installed font has every glyph: they show boxes.
  const std::vector<std::string>& unreadable_texts() const noexcept;

 private:
  struct Impl;
  explicit Figure(std::unique_ptr<const Impl> impl) noexcept;
  friend Figure make_grid(std::span<const Panel>, const FigureOptions&);
  std::unique_ptr<const Impl> impl_;
};

}  // namespace attn::draw
