// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/draw/figure.hpp>
#include <attn/error.hpp>
#include <cmath>

#include "base/concat.hpp"
#include "draw/encode.hpp"
#include "draw/matrix.hpp"
#include "draw/paint.hpp"

namespace attn::draw {
namespace {

constexpr std::string_view kMakeGrid = "make_grid";
constexpr double kMostPixelsASide = 32767;  // of a Cairo image
constexpr double kMostPixels = double{1 << 28};

void check_options(const FigureOptions& o) {
  const auto refuse = [](const char* option, double found, const char* expected) {
    throw Error(kMakeGrid, option, base::concat("found ", found, ", expected ", expected));
  };
  if (o.columns < 0) refuse("columns", static_cast<double>(o.columns), "0 or more");
  if (!(o.cell_size >= 0 && o.cell_size <= 1000)) refuse("cell_size", o.cell_size, "0 to 1000");
  if (!(o.max_width >= 100 && o.max_width <= kMostPixelsASide)) refuse("max_width", o.max_width, "100 to 32767");
  if (!(o.font_size >= 1 && o.font_size <= 200)) refuse("font_size", o.font_size, "1 to 200");
  if (!(o.png_scale >= 0.1 && o.png_scale <= 16)) refuse("png_scale", o.png_scale, "0.1 to 16");
  if (o.range) check_range(kMakeGrid, *o.range);
}

void check_labels(const char* option, const std::vector<std::string>& labels, std::ptrdiff_t count, const char* what) {
  if (labels.empty() || labels.size() == static_cast<std::size_t>(count)) return;
  throw Error(kMakeGrid, option,
              base::concat("found ", labels.size(), ", expected ", count, ", one for each ", what, " of the panels"));
}

std::string panel_name(std::size_t i) { return base::concat("panels[", i, "].values"); }

// Checks every panel, and returns their one shape.
Extents<2> checked_shape(std::span<const Panel> panels) {
  if (panels.empty()) throw Error(kMakeGrid, "panels", "found none, expected one or more");
  Extents<2> shape;
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const Extents<2> found = checked_picture(kMakeGrid, panel_name(i), panels[i].values).extents();
    if (i == 0) shape = found;
    if (found == shape) continue;
    throw Error(kMakeGrid, panel_name(i),
                base::concat("shape ", base::shape_text(found.n), ", expected ", base::shape_text(shape.n),
                             " as in panels[0]"));
  }
  return shape;
}

void check_size(double width, double height, std::size_t panels, const Extents<2>& shape) {
  if (width <= kMostPixelsASide && height <= kMostPixelsASide && width * height <= kMostPixels) return;
  throw Error(kMakeGrid, "panels",
              base::concat(panels, " panels of shape ", base::shape_text(shape.n), " need ", std::llround(width), " x ",
                           std::llround(height), " pixels, expected at most ", kMostPixelsASide, " a side and ",
                           std::llround(kMostPixels),
                           " in all: draw fewer panels or tokens, or use smaller cells or a smaller png_scale"));
}

Pixels pixels_of(const View<const float, 2>& matrix, const ValueRange& range, const Colormap& colormap, bool& has_nan) {
  Pixels pixels;
  pixels.reserve(static_cast<std::size_t>(matrix.size()));
  for (std::ptrdiff_t r = 0; r < matrix.extent(0); ++r) {
    for (std::ptrdiff_t c = 0; c < matrix.extent(1); ++c) {
      const double place = place_on(range, double{matrix(r, c)});
      has_nan = has_nan || std::isnan(place);
      const Rgb colour = colormap.rgb(place);
      pixels.push_back(std::uint32_t{colour.red} << 16 | std::uint32_t{colour.green} << 8 | colour.blue);
    }
  }
  return pixels;
}

std::vector<std::string> unreadable(const FigureContent& content, const FigureOptions& options,
                                    const TextRenderer& renderer) {
  std::vector<std::string> texts;
  const auto look = [&](const std::vector<std::string>& from) {
    for (const std::string& text : from) {
      if (std::find(texts.begin(), texts.end(), text) != texts.end() || renderer.readable(text)) continue;
      texts.push_back(text);
    }
  };
  look({options.title, options.row_title, options.column_title, options.scale_title});
  look(content.titles);
  look(options.row_labels);
  look(options.column_labels);
  return texts;
}

}  // namespace

struct Figure::Impl {
  TextRenderer renderer;
  Scene scene;
  std::vector<std::string> unreadable_texts;
};

Figure::Figure(std::unique_ptr<const Impl> impl) noexcept : impl_(std::move(impl)) {}
Figure::Figure(Figure&&) noexcept = default;
Figure& Figure::operator=(Figure&&) noexcept = default;
Figure::~Figure() = default;

double Figure::width() const noexcept { return impl_->scene.layout.width; }
double Figure::height() const noexcept { return impl_->scene.layout.height; }
const std::vector<std::string>& Figure::notes() const noexcept { return impl_->scene.layout.notes; }
const std::vector<std::string>& Figure::unreadable_texts() const noexcept { return impl_->unreadable_texts; }

std::string Figure::encode(FigureFormat format) const {
  const Scene& scene = impl_->scene;
  const auto paint_scene = [this](cairo_t* canvas) { paint(canvas, impl_->scene, impl_->renderer); };
  return draw::encode({scene.layout.width, scene.layout.height, scene.pixel, paint_scene, scene.columns, scene.rows},
                      format);
}

Figure make_grid(std::span<const Panel> panels, const FigureOptions& options) {
  check_options(options);
  const Extents<2> shape = checked_shape(panels);
  check_labels("row_labels", options.row_labels, shape[0], "row");
  check_labels("column_labels", options.column_labels, shape[1], "column");
  // Before anything is measured or copied: one pixel a cell is the least that it takes.
  const double across = static_cast<double>(options.columns > 0 ? options.columns : 1);
  check_size(static_cast<double>(shape[1]) * std::min(across, static_cast<double>(panels.size())),
             static_cast<double>(shape[0]), panels.size(), shape);

  FigureContent content{shape[0], shape[1], {}, {}, false};
  std::vector<In<2>> matrices;
  for (const Panel& panel : panels) {
    matrices.push_back(panel.values);
    content.titles.push_back(panel.title);
  }
  content.range = options.range ? *options.range : value_range_of(matrices);
  Scene scene;
  for (const In<2>& values : matrices) {
    scene.panels.push_back(pixels_of(values.as<const float>(), content.range, options.colormap, content.has_nan));
  }
  TextRenderer renderer(options.font_family);
  scene.layout = lay_out(content, options, renderer);
  scene.rows = shape[0];
  scene.columns = shape[1];
  scene.colormap = options.colormap;
  scene.pixel = 1 / options.png_scale;
  check_size(scene.layout.width / scene.pixel, scene.layout.height / scene.pixel, panels.size(), shape);
  std::vector<std::string> texts = unreadable(content, options, renderer);
  return Figure(
      std::unique_ptr<const Figure::Impl>(new Figure::Impl{std::move(renderer), std::move(scene), std::move(texts)}));
}

}  // namespace attn::draw
