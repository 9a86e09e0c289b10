// SPDX-License-Identifier: Apache-2.0
#include "draw/paint.hpp"

#include <algorithm>
#include <cstring>

namespace attn::draw {
namespace {

// More cells than this are drawn as an image: as rectangles of an SVG they would take over a megabyte.
constexpr std::size_t kMostRectangles = 6000;
constexpr int kBarSteps = 128;
constexpr Rgb kFrame{150, 150, 150};

Rgb colour_of(std::uint32_t pixel) {
  return {static_cast<std::uint8_t>(pixel >> 16), static_cast<std::uint8_t>(pixel >> 8),
          static_cast<std::uint8_t>(pixel)};
}

// Each rectangle reaches one cell further than its own, under the next ones: edges that only touch would let the
// background through wherever a viewer's pixels fall between them.
void paint_rectangles(cairo_t* canvas, const Scene& scene, const Box& panel, const Pixels& pixels) {
  const double width = scene.layout.cell_width, height = scene.layout.cell_height;
  for (std::ptrdiff_t r = 0; r < scene.rows; ++r) {
    for (std::ptrdiff_t c = 0; c < scene.columns; ++c) {
      const double x = panel.x + static_cast<double>(c) * width, y = panel.y + static_cast<double>(r) * height;
      cairo_rectangle(canvas, x, y, std::min(2 * width, panel.right() - x), std::min(2 * height, panel.bottom() - y));
      set_colour(canvas, colour_of(pixels[static_cast<std::size_t>(r * scene.columns + c)]));
      cairo_fill(canvas);
    }
  }
}

void paint_image(cairo_t* canvas, const Scene& scene, const Box& panel, const Pixels& pixels) {
  const int rows = static_cast<int>(scene.rows), columns = static_cast<int>(scene.columns);
  const Surface image(cairo_image_surface_create(CAIRO_FORMAT_RGB24, columns, rows));
  if (cairo_surface_status(image.get()) != CAIRO_STATUS_SUCCESS) throw std::bad_alloc();
  cairo_surface_flush(image.get());
  unsigned char* to = cairo_image_surface_get_data(image.get());
  for (int r = 0; r < rows; ++r) {
    std::memcpy(to + std::ptrdiff_t{r} * cairo_image_surface_get_stride(image.get()),
                pixels.data() + std::ptrdiff_t{r} * columns, static_cast<std::size_t>(columns) * sizeof(pixels[0]));
  }
  cairo_surface_mark_dirty(image.get());
  cairo_save(canvas);
  cairo_translate(canvas, panel.x, panel.y);
  cairo_scale(canvas, scene.layout.cell_width, scene.layout.cell_height);
  cairo_set_source_surface(canvas, image.get(), 0, 0);
  cairo_pattern_set_filter(cairo_get_source(canvas), CAIRO_FILTER_NEAREST);
  cairo_rectangle(canvas, 0, 0, columns, rows);
  cairo_fill(canvas);
  cairo_restore(canvas);
}

// A line of one pixel around `box`, outside of it.
void paint_frame(cairo_t* canvas, const Box& box, double pixel) {
  cairo_rectangle(canvas, box.x - pixel / 2, box.y - pixel / 2, box.width + pixel, box.height + pixel);
  set_colour(canvas, kFrame);
  cairo_set_line_width(canvas, pixel);
  cairo_stroke(canvas);
}

void paint_bar(cairo_t* canvas, const Scene& scene) {
  const Box& bar = scene.layout.bar;
  for (int i = 0; i < kBarSteps; ++i) {
    const double top = bar.y + bar.height * i / kBarSteps;
    cairo_rectangle(canvas, bar.x, top, bar.width, bar.bottom() - top);
    set_colour(canvas, scene.colormap.rgb(1 - static_cast<double>(i) / (kBarSteps - 1)));
    cairo_fill(canvas);
  }
  paint_frame(canvas, bar, scene.pixel);
  for (const Box& tick : scene.layout.ticks) {
    cairo_move_to(canvas, tick.x, tick.y);
    cairo_line_to(canvas, tick.right(), tick.y);
  }
  set_colour(canvas, kFrame);
  cairo_set_line_width(canvas, scene.pixel);
  cairo_stroke(canvas);
  if (scene.layout.nan_swatch) {
    const Box& box = *scene.layout.nan_swatch;
    cairo_rectangle(canvas, box.x, box.y, box.width, box.height);
    set_colour(canvas, kNanColour);
    cairo_fill(canvas);
    paint_frame(canvas, box, scene.pixel);
  }
}

}  // namespace

void paint(cairo_t* canvas, const Scene& scene, const TextRenderer& renderer) {
  cairo_set_source_rgb(canvas, 1, 1, 1);
  cairo_rectangle(canvas, 0, 0, scene.layout.width, scene.layout.height);
  cairo_fill(canvas);
  const std::size_t cells = scene.panels.size() * scene.panels.front().size();
  for (std::size_t i = 0; i < scene.panels.size(); ++i) {
    const Box& panel = scene.layout.panels[i];
    if (cells <= kMostRectangles) {
      paint_rectangles(canvas, scene, panel, scene.panels[i]);
    } else {
      paint_image(canvas, scene, panel, scene.panels[i]);
    }
    paint_frame(canvas, panel, scene.pixel);
  }
  paint_bar(canvas, scene);
  for (const Text& text : scene.layout.texts) renderer.draw(canvas, text);
}

}  // namespace attn::draw
