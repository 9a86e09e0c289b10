// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/draw/line_plot.hpp>
#include <attn/error.hpp>
#include <cmath>
#include <limits>

#include "base/concat.hpp"
#include "draw/encode.hpp"
#include "draw/text.hpp"
#include "draw/ticks.hpp"

namespace attn::draw {
namespace {

constexpr std::string_view kLinePlot = "line_plot";
constexpr double kPlotMargin = 12;
constexpr Rgb kAxis{120, 120, 120}, kGrid{228, 228, 228};
// Told apart by the colour-blind too (Okabe and Ito, 2008), without the yellow, which white swallows.
constexpr Rgb kColours[] = {{0, 114, 178},  {213, 94, 0},  {0, 158, 115}, {204, 121, 167},
                            {86, 180, 233}, {230, 159, 0}, {0, 0, 0},     {120, 94, 240}};

struct Plot {
  std::span<const Line> lines;
  const LinePlotOptions& options;
  const TextRenderer& renderer;
  ValueRange x = {}, y = {};
  Box box = {};  // between the axes
  std::vector<Tick> x_ticks = {}, y_ticks = {};

  double to_x(double value) const { return box.x + box.width * (value - x.min) / (x.max - x.min); }
  double to_y(double value) const { return box.bottom() - box.height * (value - y.min) / (y.max - y.min); }
};

void check_options(const LinePlotOptions& o) {
  const auto check = [](const char* option, double found, double min, double max) {
    if (found >= min && found <= max) return;
    throw Error(kLinePlot, option, base::concat("found ", found, ", expected ", min, " to ", max));
  };
  check("width", o.width, 200, 8000);
  check("height", o.height, 150, 8000);
  check("font_size", o.font_size, 1, 50);
  check("png_scale", o.png_scale, 0.1, 4);
}

// A range without width cannot be placed on; it gets some on both sides.
ValueRange widened(ValueRange range) {
  if (range.max - range.min > 1e-12 * std::max(std::abs(range.min), std::abs(range.max))) return range;
  const double more = std::max(0.5 * std::abs(range.max), 0.5);
  return {range.min - more, range.max + more};
}

void check_lines(Plot& plot) {
  if (plot.lines.empty() || plot.lines.size() > std::size(kColours)) {
    throw Error(kLinePlot, "lines", base::concat("found ", plot.lines.size(), ", expected 1 to ", std::size(kColours)));
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  ValueRange x{kInfinity, -kInfinity}, y = x;
  for (std::size_t l = 0; l < plot.lines.size(); ++l) {
    const Line& line = plot.lines[l];
    const auto refuse = [&](auto... what) {
      throw Error(kLinePlot, base::concat("lines[", l, "]"), base::concat(what...));
    };
    if (line.x.size() != line.y.size()) refuse(line.y.size(), " values of y, expected ", line.x.size(), " as of x");
    for (std::size_t i = 0; i < line.x.size(); ++i) {
      if (!std::isfinite(line.x[i])) refuse("x[", i, "] is ", line.x[i], ", expected a finite number");
      if (!std::isfinite(line.y[i])) continue;
      x = {std::min(x.min, line.x[i]), std::max(x.max, line.x[i])};
      y = {std::min(y.min, line.y[i]), std::max(y.max, line.y[i])};
    }
  }
  if (x.min > x.max) throw Error(kLinePlot, "lines", "no finite point in any of them");
  plot.x = widened(x);
  plot.y = widened(y);
}

void lay_out(Plot& plot) {
  const LinePlotOptions& o = plot.options;
  const double line = 1.6 * o.font_size;
  plot.y_ticks = ticks_of(plot.y, 2 * line / o.height);
  double labels = 0;
  for (const Tick& tick : plot.y_ticks) {
    labels = std::max(labels, plot.renderer.measure(tick.text, {o.font_size}).width);
  }
  const bool has_legend =
      std::any_of(plot.lines.begin(), plot.lines.end(), [](const Line& l) { return !l.name.empty(); });
  const double left = kPlotMargin + (o.y_title.empty() ? 0 : line) + labels + 6;
  const double top = kPlotMargin + (o.title.empty() ? 0 : 1.3 * line) + (has_legend ? line : 0);
  const double bottom = kPlotMargin + (o.x_title.empty() ? 0 : line) + line;
  plot.box = {left, top, o.width - left - 2.5 * kPlotMargin, o.height - top - bottom};
  plot.x_ticks = ticks_of(plot.x, 60 / plot.box.width);
}

void paint_axes(cairo_t* canvas, const Plot& plot) {
  const Box& box = plot.box;
  const double size = plot.options.font_size, line = 1.6 * size;
  cairo_set_line_width(canvas, 1);
  set_colour(canvas, kGrid);
  for (const Tick& tick : plot.y_ticks) {
    const double y = box.bottom() - tick.place * box.height;
    cairo_move_to(canvas, box.x, y);
    cairo_line_to(canvas, box.right(), y);
  }
  for (const Tick& tick : plot.x_ticks) {
    const double x = box.x + tick.place * box.width;
    cairo_move_to(canvas, x, box.y);
    cairo_line_to(canvas, x, box.bottom());
  }
  cairo_stroke(canvas);
  set_colour(canvas, kAxis);
  cairo_move_to(canvas, box.x, box.y);
  cairo_line_to(canvas, box.x, box.bottom());
  cairo_line_to(canvas, box.right(), box.bottom());
  cairo_stroke(canvas);
  for (const Tick& tick : plot.y_ticks) {
    const double y = box.bottom() - tick.place * box.height;
    plot.renderer.draw(canvas, {tick.text, {0, y - line / 2, box.x - 6, line}, {size}, TextAlign::right});
  }
  for (const Tick& tick : plot.x_ticks) {
    const double x = box.x + tick.place * box.width;
    plot.renderer.draw(canvas, {tick.text, {x - 40, box.bottom() + 2, 80, line}, {size}, TextAlign::centre});
  }
}

void paint_titles(cairo_t* canvas, const Plot& plot) {
  const LinePlotOptions& o = plot.options;
  const Box& box = plot.box;
  const double line = 1.6 * o.font_size;
  double top = kPlotMargin;
  if (!o.title.empty()) {
    const Box place{kPlotMargin, top, o.width - 2 * kPlotMargin, line};
    plot.renderer.draw(canvas, {o.title, place, {1.2 * o.font_size, true}, TextAlign::centre});
    top += 1.3 * line;
  }
  if (!o.x_title.empty()) {
    const Box place{box.x, box.bottom() + line, box.width, line};
    plot.renderer.draw(canvas, {o.x_title, place, {o.font_size}, TextAlign::centre});
  }
  if (!o.y_title.empty()) {
    plot.renderer.draw(canvas,
                       {o.y_title, {kPlotMargin, box.y, line, box.height}, {o.font_size}, TextAlign::centre, true});
  }
  double x = box.x;
  for (std::size_t l = 0; l < plot.lines.size(); ++l) {
    const std::string& name = plot.lines[l].name;
    if (name.empty() || x > box.right() - 30) continue;
    set_colour(canvas, kColours[l]);
    cairo_rectangle(canvas, x, top + line / 2 - 1.5, 18, 3);
    cairo_fill(canvas);
    const double width = std::min(plot.renderer.measure(name, {o.font_size}).width + 2, box.right() - x - 22);
    plot.renderer.draw(canvas, {name, {x + 22, top, width, line}, {o.font_size}});
    x += width + 22 + 16;
  }
}

void paint_lines(cairo_t* canvas, const Plot& plot) {
  cairo_set_line_width(canvas, 1.6);
  cairo_set_line_join(canvas, CAIRO_LINE_JOIN_ROUND);
  cairo_set_line_cap(canvas, CAIRO_LINE_CAP_ROUND);
  for (std::size_t l = 0; l < plot.lines.size(); ++l) {
    const Line& line = plot.lines[l];
    set_colour(canvas, kColours[l]);
    bool is_open = false;
    for (std::size_t i = 0; i < line.x.size(); ++i) {
      if (!std::isfinite(line.y[i])) {
        is_open = false;
        continue;
      }
      // A point between two gaps is a line to itself, which its round cap makes a dot.
      if (!is_open) cairo_move_to(canvas, plot.to_x(line.x[i]), plot.to_y(line.y[i]));
      cairo_line_to(canvas, plot.to_x(line.x[i]), plot.to_y(line.y[i]));
      is_open = true;
    }
    cairo_stroke(canvas);
  }
}

}  // namespace

std::string line_plot(std::span<const Line> lines, FigureFormat format, const LinePlotOptions& options) {
  check_options(options);
  const TextRenderer renderer(options.font_family);
  Plot plot{lines, options, renderer};
  check_lines(plot);
  lay_out(plot);
  const auto paint = [&plot](cairo_t* canvas) {
    set_colour(canvas, {255, 255, 255});
    cairo_paint(canvas);
    paint_axes(canvas, plot);
    paint_titles(canvas, plot);
    paint_lines(canvas, plot);
  };
  return encode({options.width, options.height, 1 / options.png_scale, paint}, format);
}

}  // namespace attn::draw
