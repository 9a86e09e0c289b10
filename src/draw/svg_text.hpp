// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace attn::draw {

// What Cairo's SVG lacks, done on its text.

// Shows the picture in `width` x `height` CSS pixels, whatever its own units.
void resize_svg(std::string& svg, double width, double height);

// Makes viewers enlarge images of `width` x `height` pixels without smoothing.
void keep_pixels_square(std::string& svg, std::ptrdiff_t width, std::ptrdiff_t height);

// Names all elements "e0", "e1", ... in the order in which they are mentioned. Cairo numbers them on through the whole
// process, so that the same picture would get other bytes each time.
std::string renumber_ids(std::string_view svg);

}  // namespace attn::draw
