// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/draw/colormap.hpp>
#include <string>

#include "draw/cairo.hpp"

namespace attn::draw {

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  double right() const { return x + width; }
  double bottom() const { return y + height; }
};

struct TextStyle {
  double size = 11;
  bool bold = false;
};

enum class TextAlign { left, centre, right };

// One line of text in its place. Cut in the middle when it is longer than the box.
struct Text {
  std::string text;
  Box box;
  TextStyle style = {};
  // Along the line; across it the text is centred.
  TextAlign align = TextAlign::left;
  // Turned by a quarter, so that it reads upwards: left is then the lower end of the box.
  bool upward = false;
  Rgb colour = {30, 30, 30};
};

struct TextSize {
  double width = 0, height = 0;  // of the line, as fonts space lines
  double ink_height = 0;         // of what is black
};

// Shapes and draws text of any script. Fonts are unhinted, so that every surface gets the same layout.
class TextRenderer {
 public:
  // `family` is what Pango takes.
  explicit TextRenderer(const std::string& family);

  TextSize measure(const std::string& text, const TextStyle& style) const;
  // False when no installed font has some glyph of it.
  bool readable(const std::string& text) const;
  void draw(cairo_t* canvas, const Text& text) const;

 private:
  GObjectOwner<PangoLayout> shape(const std::string& text, const TextStyle& style) const;
  GObjectOwner<PangoFontMap> fonts_;
  GObjectOwner<PangoContext> context_;
  FontDescription font_;
};

}  // namespace attn::draw
