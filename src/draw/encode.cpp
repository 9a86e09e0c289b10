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

void paint_on(cairo_surface_t* surface, double scale, const Drawing& drawing) {
  const Canvas canvas(cairo_create(surface));
  cairo_scale(canvas.get(), scale, scale);
  drawing.paint(canvas.get());
  check(cairo_status(canvas.get()));
}

std::string encode_png(const Drawing& drawing) {
  const double scale = 1 / drawing.pixel;
  const Surface surface(cairo_image_surface_create(CAIRO_FORMAT_RGB24,
                                                   static_cast<int>(std::lround(drawing.width * scale)),
                                                   static_cast<int>(std::lround(drawing.height * scale))));
  paint_on(surface.get(), scale, drawing);
  std::string bytes;
  check(cairo_surface_write_to_png_stream(surface.get(), append, &bytes));
  return bytes;
}

std::string encode_svg(const Drawing& drawing) {
  std::string bytes;
  const Surface surface(
      cairo_svg_surface_create_for_stream(append, &bytes, drawing.width * kSvgScale, drawing.height * kSvgScale));
  paint_on(surface.get(), kSvgScale, drawing);
  cairo_surface_finish(surface.get());
  check(cairo_surface_status(surface.get()));
  resize_svg(bytes, drawing.width, drawing.height);
  keep_pixels_square(bytes, drawing.image_columns, drawing.image_rows);
  return renumber_ids(bytes);
}

std::string encode_pdf(const Drawing& drawing) {
  std::string bytes;
  const Surface surface(cairo_pdf_surface_create_for_stream(append, &bytes, drawing.width * kPointsPerUnit,
                                                            drawing.height * kPointsPerUnit));
  // The time of day would make each file another one.
  cairo_pdf_surface_set_metadata(surface.get(), CAIRO_PDF_METADATA_CREATE_DATE, "");
  paint_on(surface.get(), kPointsPerUnit, drawing);
  cairo_surface_finish(surface.get());
  check(cairo_surface_status(surface.get()));
  return bytes;
}

}  // namespace

std::string encode(const Drawing& drawing, FigureFormat format) {
  switch (format) {
    case FigureFormat::png:
      return encode_png(drawing);
    case FigureFormat::svg:
      return encode_svg(drawing);
    case FigureFormat::pdf:
      break;
  }
  return encode_pdf(drawing);
}

}  // namespace attn::draw
