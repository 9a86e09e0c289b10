// SPDX-License-Identifier: Apache-2.0
#include "cross_picture.hpp"

#include <fmt/format.h>

#include <attn/draw/display_width.hpp>
#include <attn/draw/figure.hpp>

namespace attn::app {
namespace {

// Pieces hold the space before them, which a label does not need.
std::vector<std::string> labels_of(std::vector<std::string> tokens) {
  for (std::string& token : tokens) {
    if (token.size() > 1 && token.starts_with(' ')) token.erase(0, 1);
  }
  return tokens;
}

}  // namespace

CrossPicture draw_cross_attention(const std::string& input, const train::CrossAttention& seen) {
  std::vector<draw::Panel> panels;
  for (std::ptrdiff_t head = 0; head < seen.weights.extent(0); ++head) {
    panels.push_back(
        {.values = seen.weights.view<float, 3>().select(0, head), .title = fmt::format("last layer, head {}", head)});
  }
  const draw::Figure figure = draw::make_grid(panels, {.row_labels = labels_of(seen.target),
                                                       .column_labels = labels_of(seen.source),
                                                       .title = draw::elide(input, 100),
                                                       .row_title = "translation",
                                                       .column_title = "source",
                                                       .scale_title = "weight"});
  return {seen.output, figure.encode(draw::FigureFormat::png), figure.encode(draw::FigureFormat::svg)};
}

std::vector<std::filesystem::path> picture_files(const std::filesystem::path& folder, std::size_t count) {
  std::vector<std::filesystem::path> files;
  for (std::size_t i = 1; i <= count; ++i) files.push_back(folder / fmt::format("cross-{}.png", i));
  return files;
}

}  // namespace attn::app
