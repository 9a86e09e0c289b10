// SPDX-License-Identifier: Apache-2.0
#include "draw/encode.hpp"

#include <cairo-pdf.h>
#include <cairo-svg.h>

#include <attn/error.hpp>
#include <cmath>
#include <new>

#include "draw/svg_text.hpp"

namespace attn::draw {
namespace {

constexpr double kPointsPerUnit = 0.75;  // 72 points, 96 units an inch
// Cairo embeds emoji in an SVG as images of one pixel a unit. Drawn this much larger, and shown as much smaller, they
// stay sharp, and outlines keep more digits.
constexpr double kSvgScale = 4;

cairo_status_t append(void* to, const unsigned char* data, unsigned int size) {
  try {
    static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(data), size);
    return CAIRO_STATUS_SUCCESS;
  } catch (...) {  // An exception must not pass through Cairo.
    return CAIRO_STATUS_NO_MEMORY;
  }
}

void check(cairo_status_t status) {
  if (status == CAIRO_STATUS_NO_MEMORY) throw std::bad_alloc();
  if (status != CAIRO_STATUS_SUCCESS) throw Error("Figure::encode", "", cairo_status_to_string(status));
}

void paint_on(cairo_surface_t* surface, double scale, const Scene& scene, const TextRenderer& renderer) {
  const Canvas canvas(cairo_create(surface));
  cairo_scale(canvas.get(), scale, scale);
  paint(canvas.get(), scene, renderer);
  check(cairo_status(canvas.get()));
}

}  // namespace

std::string encode_png(const Scene& scene, const TextRenderer& renderer) {
  const double scale = 1 / scene.pixel;
  const Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24,
                                                   static_cast<int>(std::lround(scene.layout.width * scale)),
                                                   static_cast<int>(std::lround(scene.layout.height * scale))));
  paint_on(surface.get(), scale, scene, renderer);
  std::string bytes;
  check(cairo_surface_write_to_png_stream(surface.get(), append, &bytes));
  return bytes;
}

std::string encode_svg(const Scene& scene, const TextRenderer& renderer) {
  const FigureLayout& layout = scene.layout;
  std::string bytes;
  const Surface surface(
      cairo_svg_surface_create_for_stream(append, &bytes, layout.width * kSvgScale, layout.height * kSvgScale));
  paint_on(surface.get(), kSvgScale, scene, renderer);
  cairo_surface_finish(surface.get());
  check(cairo_surface_status(surface.get()));
  resize_svg(bytes, layout.width, layout.height);
  keep_pixels_square(bytes, scene.columns, scene.rows);
  return renumber_ids(bytes);
}

std::string encode_pdf(const Scene& scene, const TextRenderer& renderer) {
  std::string bytes;
  const Surface surface(cairo_pdf_surface_create_for_stream(append, &bytes, scene.layout.width * kPointsPerUnit,
                                                            scene.layout.height * kPointsPerUnit));
  // The time of day would make each file another one.
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATE_DATE, "");
  paint_on(surface.get(), kPointsPerUnit, scene, renderer);
  cairo_surface_finish(surface.get());
  check(cairo_surface_status(surface.get()));
  return bytes;
}

}  // namespace attn::draw
