// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "draw/paint.hpp"

namespace attn::draw {

// The bytes of a file that shows `scene`. The same scene gives the same bytes. Throw Error when Cairo fails.
std::string encode_png(const Scene& scene, const TextRenderer& renderer);
std::string encode_svg(const Scene& scene, const TextRenderer& renderer);
std::string encode_pdf(const Scene& scene, const TextRenderer& renderer);

}  // namespace attn::draw
