// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/export.hpp>
#include <cstddef>
#include <string>
#include <string_view>

namespace attn::draw {

// Terminals place text in a grid of columns: most characters take one, East Asian wide ones and emoji two, combining
// marks none. Text is UTF-8; invalid bytes and control characters (which could move the cursor or recolour the
// screen) count as, and become, U+FFFD; marks that reverse the direction of writing are left out.

// Columns that `text` takes (Unicode UAX 11 and 29; ambiguous width is 1).
ATTN_API std::ptrdiff_t display_width(std::string_view text);

// `text`, safe to print, cut in the middle with "…" so that it takes at most `width` columns (0 or more). Never cuts a
// character from its marks.
ATTN_API std::string elide(std::string_view text, std::ptrdiff_t width);

}  // namespace attn::draw
