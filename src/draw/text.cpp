// SPDX-License-Identifier: Apache-2.0
#include "draw/text.hpp"

#include <algorithm>
#include <numbers>

namespace attn::draw {
namespace {

constexpr double kPangoUnit = PANGO_SCALE;

}  // namespace

TextRenderer::TextRenderer(const std::string& family)
    : fonts_(pango_cairo_font_map_new()),
      context_(pango_font_map_create_context(fonts_.get())),
      font_(pango_font_description_new()) {
  const FontOptions options(cairo_font_options_create());
  cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_NONE);
  cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
  pango_cairo_context_set_font_options(context_.get(), options.get());
  pango_context_set_round_glyph_positions(context_.get(), FALSE);
  pango_font_description_set_family(font_.get(), family.c_str());
}

GObjectOwner<PangoLayout> TextRenderer::shape(const std::string& text, const TextStyle& style) const {
  // Pango prints a warning for invalid UTF-8, so it must not get any.
  const std::unique_ptr<char, Release<g_free>> valid(g_utf8_make_valid(text.data(), static_cast<gssize>(text.size())));
  const FontDescription font(pango_font_description_copy(font_.get()));
  pango_font_description_set_absolute_size(font.get(), style.size * kPangoUnit);
  if (style.bold) pango_font_description_set_weight(font.get(), PANGO_WEIGHT_BOLD);
  GObjectOwner<PangoLayout> layout(pango_layout_new(context_.get()));
  pango_layout_set_single_paragraph_mode(layout.get(), TRUE);
  pango_layout_set_font_description(layout.get(), font.get());
  pango_layout_set_text(layout.get(), valid.get(), -1);
  return layout;
}

TextSize TextRenderer::measure(const std::string& text, const TextStyle& style) const {
  PangoRectangle ink{}, line{};
  pango_layout_get_extents(shape(text, style).get(), &ink, &line);
  return {line.width / kPangoUnit, line.height / kPangoUnit, ink.height / kPangoUnit};
}

bool TextRenderer::readable(const std::string& text) const {
  return pango_layout_get_unknown_glyphs_count(shape(text, {}).get()) == 0;
}

void TextRenderer::draw(cairo_t* canvas, const Text& text) const {
  const GObjectOwner<PangoLayout> layout = shape(text.text, text.style);
  const double along = text.upward ? text.box.height : text.box.width;
  const double across = text.upward ? text.box.width : text.box.height;
  PangoRectangle line{};
  pango_layout_get_extents(layout.get(), nullptr, &line);
  if (line.width > along * kPangoUnit) {
    pango_layout_set_ellipsize(layout.get(), PANGO_ELLIPSIZE_MIDDLE);
    pango_layout_set_width(layout.get(), static_cast<int>(along * kPangoUnit));
    pango_layout_get_extents(layout.get(), nullptr, &line);
  }
  const double free = std::max(0.0, along - line.width / kPangoUnit);
  const double shift = text.align == TextAlign::left ? 0 : text.align == TextAlign::right ? free : free / 2;
  cairo_save(canvas);
  cairo_translate(canvas, text.box.x, text.upward ? text.box.bottom() : text.box.y);
  if (text.upward) cairo_rotate(canvas, -std::numbers::pi / 2);
  // Text of a right-to-left script lies at the right of the width it was cut to; line.x takes that back.
  cairo_move_to(canvas, shift - line.x / kPangoUnit, (across - line.height / kPangoUnit) / 2 - line.y / kPangoUnit);
  cairo_set_source_rgb(canvas, text.colour.red / 255.0, text.colour.green / 255.0, text.colour.blue / 255.0);
  pango_cairo_show_layout(canvas, layout.get());
  cairo_restore(canvas);
}

}  // namespace attn::draw
