// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/draw/colormap.hpp>
#include <string>

namespace attn::draw {

// The escape sequence that takes all colours back.
inline constexpr const char* kResetColours = "\x1b[0m";

// The one that sets the background to a 24-bit colour.
std::string full_background(Rgb colour);

// The nearest of the 216 + 24 colours that xterm defines: 16 + 36 r + 6 g + b for the cube, 232 to 255 for greys.
int palette_index(Rgb colour);
std::string palette_background(Rgb colour);

}  // namespace attn::draw
