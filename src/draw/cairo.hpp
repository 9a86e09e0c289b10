// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pango/pangocairo.h>

#include <attn/draw/colormap.hpp>
#include <memory>

namespace attn::draw {

// Owners of what Cairo and Pango hand out.
template <auto Free>
struct Release {
  template <class T>
  void operator()(T* p) const noexcept {
    Free(p);
  }
};
using Surface = std::unique_ptr<cairo_surface_t, Release<cairo_surface_destroy>>;
using Canvas = std::unique_ptr<cairo_t, Release<cairo_destroy>>;
using FontOptions = std::unique_ptr<cairo_font_options_t, Release<cairo_font_options_destroy>>;
using FontDescription = std::unique_ptr<PangoFontDescription, Release<pango_font_description_free>>;
template <class T>
using GObjectOwner = std::unique_ptr<T, Release<g_object_unref>>;

inline void set_colour(cairo_t* canvas, Rgb c) {
  cairo_set_source_rgb(canvas, c.red / 255.0, c.green / 255.0, c.blue / 255.0);
}

}  // namespace attn::draw
