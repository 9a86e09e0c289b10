// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/draw/colormap.hpp>
#include <attn/draw/figure.hpp>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "draw/cairo.hpp"
#include "draw/layout.hpp"

namespace attn::draw {

// A PNG file, decoded.
class Picture {
 public:
  explicit Picture(const std::string& png) {
    std::pair<const std::string*, std::size_t> source{&png, 0};
    const auto read = [](void* from, unsigned char* to, unsigned int size) {
      auto& [bytes, at] = *static_cast<std::pair<const std::string*, std::size_t>*>(from);
      if (at + size > bytes->size()) return CAIRO_STATUS_READ_ERROR;
      std::memcpy(to, bytes->data() + at, size);
      at += size;
      return CAIRO_STATUS_SUCCESS;
    };
    surface_.reset(cairo_image_surface_create_from_png_stream(read, &source));
    if (cairo_surface_status(surface_.get()) != CAIRO_STATUS_SUCCESS) throw std::runtime_error("not a PNG");
  }
  int width() const { return cairo_image_surface_get_width(surface_.get()); }
  int height() const { return cairo_image_surface_get_height(surface_.get()); }
  Rgb at(int x, int y) const {
    const unsigned char* row = cairo_image_surface_get_data(surface_.get()) +
                               static_cast<std::ptrdiff_t>(y) * cairo_image_surface_get_stride(surface_.get());
    std::uint32_t pixel = 0;
    std::memcpy(&pixel, row + std::ptrdiff_t{x} * 4, 4);
    return {static_cast<std::uint8_t>(pixel >> 16), static_cast<std::uint8_t>(pixel >> 8),
            static_cast<std::uint8_t>(pixel)};
  }

 private:
  Surface surface_;
};

// Matrices that own their values.
struct Matrices {
  std::ptrdiff_t rows = 0, columns = 0;
  std::vector<std::vector<float>> values;

  // Values in [0, 1) that look random and have no two neighbours alike.
  Matrices(std::size_t count, std::ptrdiff_t r, std::ptrdiff_t c) : rows(r), columns(c), values(count) {
    std::uint32_t state = 1;
    for (std::vector<float>& matrix : values) {
      matrix.resize(static_cast<std::size_t>(r * c));
      for (float& x : matrix) {
        state = state * 1664525u + 1013904223u;
        x = static_cast<float>(state >> 8) / static_cast<float>(1 << 24);
      }
    }
  }
  std::vector<Panel> panels(const std::string& title = "Layer 1 head ") const {
    std::vector<Panel> all;
    for (const std::vector<float>& matrix : values) {
      all.push_back({view(matrix.data(), rows, columns), title.empty() ? "" : title + std::to_string(all.size() + 1)});
    }
    return all;
  }
};

// Where make_grid puts everything.
inline FigureLayout layout_of(const std::vector<Panel>& panels, const FigureOptions& options) {
  FigureContent content{panels[0].values.extent(0), panels[0].values.extent(1), {}, {}, false};
  std::vector<In<2>> matrices;
  for (const Panel& panel : panels) {
    content.titles.push_back(panel.title);
    matrices.push_back(panel.values);
    const View<const float, 2> v = panel.values.as<const float>();
    for (std::ptrdiff_t r = 0; r < v.extent(0); ++r) {
      for (std::ptrdiff_t c = 0; c < v.extent(1); ++c) content.has_nan = content.has_nan || std::isnan(v(r, c));
    }
  }
  content.range = options.range ? *options.range : value_range_of(matrices);
  return lay_out(content, options, TextRenderer(options.font_family));
}

inline std::vector<std::string> numbered(const std::string& name, std::ptrdiff_t count) {
  std::vector<std::string> labels;
  for (std::ptrdiff_t i = 0; i < count; ++i) labels.push_back(name + std::to_string(i));
  return labels;
}

}  // namespace attn::draw
