// SPDX-License-Identifier: Apache-2.0
#include "draw/svg_text.hpp"

#include <attn/error.hpp>
#include <map>

#include "base/concat.hpp"

namespace attn::draw {

void resize_svg(std::string& svg, double width, double height) {
  const std::size_t from = svg.find(" width=\""), to = svg.find(" viewBox=\"");
  if (from == std::string::npos || to == std::string::npos || from > to) {
    throw Error("Figure::encode", "", "Cairo wrote an SVG without width, height and viewBox");
  }
  svg.replace(from, to - from, base::concat(" width=\"", width, "px\" height=\"", height, "px\""));
}

void keep_pixels_square(std::string& svg, std::ptrdiff_t width, std::ptrdiff_t height) {
  const std::string size = base::concat(" width=\"", width, "\" height=\"", height, "\"");
  const std::string_view style = " style=\"image-rendering:pixelated\"";
  for (std::size_t at = svg.find("<image "); at != std::string::npos; at = svg.find("<image ", at + 1)) {
    // Attributes before the data; the data may be megabytes.
    const std::string_view head = std::string_view(svg).substr(at, svg.find("xlink:href", at) - at);
    if (head.find(size) == head.npos || head.find("image-rendering") != head.npos) continue;
    svg.insert(at + 6, style);
  }
}

std::string renumber_ids(std::string_view svg) {
  std::map<std::string_view, std::size_t> numbers;
  std::string renumbered;
  renumbered.reserve(svg.size());
  // Cairo writes colours as rgb(...), so that '#' only starts a reference; base64 holds neither quotes nor '#'.
  std::size_t at = 0, definition = svg.find(" id=\""), reference = svg.find('#');
  while (definition != svg.npos || reference != svg.npos) {
    const std::size_t begin = definition < reference ? definition + 5 : reference + 1;
    const std::size_t end = svg.find_first_of("\")", begin);
    const auto [entry, fresh] = numbers.emplace(svg.substr(begin, end - begin), numbers.size());
    renumbered.append(svg.substr(at, begin - at)).append("e").append(std::to_string(entry->second));
    at = end;
    // The rest may be megabytes: only what was passed is looked for again.
    if (definition < at) definition = svg.find(" id=\"", at);
    if (reference < at) reference = svg.find('#', at);
  }
  return renumbered.append(svg.substr(at));
}

}  // namespace attn::draw
