// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <attn/draw/figure.hpp>
#include <attn/tensor.hpp>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>

#include "draw/matrix.hpp"
#include "draw/picture.hpp"
#include "support/message.hpp"

namespace attn::draw {
namespace {

FigureOptions all_texts(std::vector<std::string> rows, std::vector<std::string> columns) {
  FigureOptions options;
  options.row_labels = std::move(rows);
  options.column_labels = std::move(columns);
  options.title = "Every panel";
  options.row_title = "query";
  options.column_title = "key";
  options.scale_title = "weight";
  return options;
}

int pixel_of(double units, const FigureOptions& options) {
  return static_cast<int>(std::floor(units * options.png_scale + 1e-6));
}

void expect_cells(const Matrices& matrices, const FigureOptions& options) {
  const std::vector<Panel> panels = matrices.panels();
  const Picture picture(make_grid(panels, options).encode(FigureFormat::png));
  const FigureLayout layout = layout_of(panels, options);
  const ValueRange range = [&] {
    std::vector<In<2>> all;
    for (const Panel& panel : panels) all.push_back(panel.values);
    return options.range ? *options.range : value_range_of(all);
  }();
  for (std::size_t p = 0; p < panels.size(); ++p) {
    for (std::ptrdiff_t r = 0; r < matrices.rows; ++r) {
      for (std::ptrdiff_t c = 0; c < matrices.columns; ++c) {
        const double value = double{matrices.values[p][static_cast<std::size_t>(r * matrices.columns + c)]};
        const Rgb colour = options.colormap.rgb(place_on(range, value));
        const int left = pixel_of(layout.panels[p].x + static_cast<double>(c) * layout.cell_width, options);
        const int top = pixel_of(layout.panels[p].y + static_cast<double>(r) * layout.cell_height, options);
        const int right = pixel_of(layout.panels[p].x + static_cast<double>(c + 1) * layout.cell_width, options) - 1;
        const int bottom = pixel_of(layout.panels[p].y + static_cast<double>(r + 1) * layout.cell_height, options) - 1;
        // All four corners: a cell is its colour to the last pixel.
        ASSERT_EQ(picture.at(left, top), colour) << p << ' ' << r << ' ' << c;
        ASSERT_EQ(picture.at(right, top), colour) << p << ' ' << r << ' ' << c;
        ASSERT_EQ(picture.at(left, bottom), colour) << p << ' ' << r << ' ' << c;
        ASSERT_EQ(picture.at(right, bottom), colour) << p << ' ' << r << ' ' << c;
      }
    }
  }
}

TEST(Figure, CellsHaveTheColoursOfTheirValues) {
  FigureOptions options = all_texts(numbered("row", 3), numbered("column", 4));
  expect_cells(Matrices(5, 3, 4), options);
  options.colormap = Colormap::viridis();
  options.range = ValueRange{0.25, 0.75};
  expect_cells(Matrices(5, 3, 4), options);
  options.png_scale = 1.5;
  options.cell_size = 10;
  options.columns = 1;
  expect_cells(Matrices(3, 3, 4), options);
}

TEST(Figure, CellsOfLargeMatricesToo) { expect_cells(Matrices(2, 60, 70), all_texts({}, numbered("c", 70))); }

TEST(Figure, NonFiniteValues) {
  Matrices matrices(1, 2, 2);
  const float inf = std::numeric_limits<float>::infinity();
  matrices.values[0] = {std::nanf(""), -inf, inf, 2.0f};
  expect_cells(matrices, {});
  EXPECT_TRUE(layout_of(matrices.panels(), {}).nan_swatch.has_value());
}

TEST(Figure, ReadsAnyStrides) {
  const float values[] = {0, 1, 2, 3, 4, 5};
  const auto plain = view(values, 2, 3);
  const float turned[] = {0, 3, 1, 4, 2, 5};
  const Panel a{plain, ""}, b{view(turned, 3, 2).transpose(0, 1), ""};
  EXPECT_EQ(make_grid({&a, 1}).encode(FigureFormat::png), make_grid({&b, 1}).encode(FigureFormat::png));
}

TEST(Figure, ColourBarEndsInTheExtremes) {
  const Matrices matrices(1, 4, 4);
  const FigureOptions options;
  const Picture picture(make_grid(matrices.panels(), options).encode(FigureFormat::png));
  const Box bar = layout_of(matrices.panels(), options).bar;
  const int x = pixel_of(bar.x + bar.width / 2, options);
  EXPECT_EQ(picture.at(x, pixel_of(bar.y, options)), options.colormap.rgb(1));
  EXPECT_EQ(picture.at(x, pixel_of(bar.bottom(), options) - 1), options.colormap.rgb(0));
}

// Every place that is not white belongs to something of the layout, and every text of it left its ink.
TEST(Figure, InkIsWhereTheLayoutSays) {
  const Matrices matrices(5, 8, 8);
  const std::vector<std::string> tokens = {"[CLS]", "I",    "saw", "a", "saw", "a-very-long-token-indeed-it-is",
                                           "g",     "[SEP]"};
  const FigureOptions options = all_texts(tokens, tokens);
  const Picture picture(make_grid(matrices.panels(), options).encode(FigureFormat::png));
  const FigureLayout layout = layout_of(matrices.panels(), options);
  ASSERT_EQ(picture.width(), std::lround(layout.width * options.png_scale));
  ASSERT_EQ(picture.height(), std::lround(layout.height * options.png_scale));
  std::vector<bool> owned(static_cast<std::size_t>(picture.width() * picture.height()));
  const auto index = [&](int x, int y) { return static_cast<std::size_t>(y * picture.width() + x); };
  const auto own = [&](const Box& box, double grow) {
    for (int y = pixel_of(box.y - grow, options); y < pixel_of(box.bottom() + grow, options); ++y) {
      for (int x = pixel_of(box.x - grow, options); x < pixel_of(box.right() + grow, options); ++x) {
        owned[index(x, y)] = true;
      }
    }
  };
  for (const Box& panel : layout.panels) own(panel, 0.5);
  for (const Box& tick : layout.ticks) own(tick, 1);
  own(layout.bar, 0.5);
  for (const Text& text : layout.texts) {
    own(text.box, 1);
    int dark = 0;
    for (int y = pixel_of(text.box.y, options); y < pixel_of(text.box.bottom(), options); ++y) {
      for (int x = pixel_of(text.box.x, options); x < pixel_of(text.box.right(), options); ++x) {
        dark += picture.at(x, y).red < 100;
      }
    }
    EXPECT_GT(dark, 4) << text.text;
  }
  for (int y = 0; y < picture.height(); ++y) {
    for (int x = 0; x < picture.width(); ++x) {
      ASSERT_TRUE(owned[index(x, y)] || picture.at(x, y) == (Rgb{255, 255, 255})) << x << ' ' << y;
    }
  }
}

TEST(Figure, SaysWhatItLeavesOut) {
  const Matrices matrices(1, 300, 300);
  const Figure figure = make_grid(matrices.panels(), all_texts(numbered("row", 300), numbered("column", 300)));
  ASSERT_EQ(figure.notes().size(), 1u);
  EXPECT_EQ(figure.notes()[0], "Every 2nd row and column is labelled.");
  const Matrices few(1, 30, 30);
  EXPECT_TRUE(make_grid(few.panels(), all_texts(numbered("row", 30), numbered("column", 30))).notes().empty());
}

TEST(Figure, EveryScriptHasItsGlyphs) {
  const std::vector<std::string> tokens = {"小明",     "在",    "北京",   "大学",  "学习",
                                           "人工智能", "مرحبا", "日本語", "Ωμέγα", "🍕"};
  const Matrices matrices(2, 10, 10);
  FigureOptions options = all_texts(tokens, tokens);
  options.title = "小明 在 北京 大学 学习 人工智能";
  EXPECT_TRUE(make_grid(matrices.panels(), options).unreadable_texts().empty());
  options.row_labels[3] = options.column_labels[4] = "no\xCD\xB8";  // U+0378 is not assigned.
  const Figure figure = make_grid(matrices.panels(), options);
  EXPECT_EQ(figure.unreadable_texts(), (std::vector<std::string>{"no\xCD\xB8"}));
}

TEST(Figure, StrangeLabelsAreDrawnAllTheSame) {
  const Matrices matrices(1, 6, 1);
  FigureOptions options;
  options.row_labels = {"", "two\nlines", "\xFF\xFE invalid", std::string("nul\0byte", 8), " ", "<&\">"};
  const Figure figure = make_grid(matrices.panels("<&\">"), options);
  EXPECT_GT(Picture(figure.encode(FigureFormat::png)).width(), 0);
  EXPECT_EQ(figure.encode(FigureFormat::svg).find('\0'), std::string::npos);
}

TEST(Figure, TheSameInputGivesTheSameBytes) {
  const Matrices matrices(3, 6, 6);
  const std::vector<std::string> tokens = {"小明", "saw", "🍕", "a", "مرحبا", "[SEP]"};
  const Figure once = make_grid(matrices.panels(), all_texts(tokens, tokens));
  const Figure again = make_grid(matrices.panels(), all_texts(tokens, tokens));
  for (const FigureFormat format : {FigureFormat::png, FigureFormat::svg, FigureFormat::pdf}) {
    const std::string bytes = once.encode(format);
    EXPECT_EQ(bytes, once.encode(format));
    EXPECT_EQ(bytes, again.encode(format));
  }
}

TEST(Figure, SvgIsWellFormed) {
  const Matrices small(2, 5, 5), large(2, 80, 80);
  const std::vector<std::string> tokens = {"<s>", "a&b", "\"", "🍕", "在"};
  const std::string path = testing::TempDir() + "/attn_figure_test.svg";
  for (const std::string& svg : {make_grid(small.panels(), all_texts(tokens, tokens)).encode(FigureFormat::svg),
                                 make_grid(large.panels()).encode(FigureFormat::svg)}) {
    std::ofstream(path) << svg;
    const std::string parse = "python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' " + path;
    EXPECT_EQ(std::system(parse.c_str()), 0);
  }
}

TEST(Figure, SvgAndPdfHaveTheSizeOfTheFigure) {
  const Matrices matrices(1, 5, 5);
  const Figure figure = make_grid(matrices.panels(), all_texts({}, {}));
  std::ostringstream size;
  size << " width=\"" << figure.width() << "px\" height=\"" << figure.height() << "px\" ";
  EXPECT_NE(figure.encode(FigureFormat::svg).find(size.str()), std::string::npos) << size.str();
  const std::string pdf = figure.encode(FigureFormat::pdf);
  EXPECT_EQ(pdf.substr(0, 5), "%PDF-");
  EXPECT_NE(pdf.find("%%EOF"), std::string::npos);
  EXPECT_EQ(pdf.find("CreationDate"), std::string::npos);
}

std::string refusal(const std::vector<Panel>& panels, const FigureOptions& options = {}) {
  return attn::test::message_of([&] { make_grid(panels, options); });
}

TEST(Figure, RefusesWithASentence) {
  const Matrices two(2, 2, 3);
  const Tensor cube = Tensor::zeros(DType::f32, 2, 2, 2), doubles = Tensor::zeros(DType::f64, 2, 2);
  EXPECT_EQ(refusal({}), "make_grid: panels: found none, expected one or more");
  EXPECT_EQ(refusal({{cube, ""}}), "make_grid: panels[0].values: rank 3, expected 2");
  EXPECT_EQ(refusal({{doubles, ""}}), "make_grid: panels[0].values: dtype f64, expected f32");
  EXPECT_EQ(refusal({Panel{}}), "make_grid: panels[0].values: dtype none, expected f32");
  EXPECT_EQ(refusal({{Tensor::zeros(DType::f32, 0, 4), ""}}),
            "make_grid: panels[0].values: shape (0, 4), expected at least one row and one column");
  EXPECT_EQ(refusal({{View<const float, 2>(nullptr, {2, 2}), ""}}),
            "make_grid: panels[0].values: null pointer, expected memory of shape (2, 2)");
  std::vector<Panel> unequal = two.panels();
  unequal.push_back({Matrices(1, 3, 3).panels()[0].values, ""});
  EXPECT_EQ(refusal(unequal), "make_grid: panels[2].values: shape (3, 3), expected (2, 3) as in panels[0]");
  EXPECT_EQ(refusal(two.panels(), {.row_labels = {"a", "b", "c"}}),
            "make_grid: row_labels: found 3, expected 2, one for each row of the panels");
  EXPECT_EQ(refusal(two.panels(), {.column_labels = {"a"}}),
            "make_grid: column_labels: found 1, expected 3, one for each column of the panels");
  EXPECT_EQ(refusal(two.panels(), {.range = ValueRange{1, 1}}),
            "make_grid: range: found 1 to 1, expected finite ends, min below max");
  EXPECT_EQ(refusal(two.panels(), {.range = ValueRange{-1.7e308, 1.7e308}}),
            "make_grid: range: found -1.7e+308 to 1.7e+308, expected ends 1e-300 to 1e300 apart");
  EXPECT_EQ(refusal(two.panels(), {.range = ValueRange{0, 1e-308}}),
            "make_grid: range: found 0 to 1e-308, expected ends 1e-300 to 1e300 apart");
  EXPECT_EQ(refusal(two.panels(), {.font_size = 0}), "make_grid: font_size: found 0, expected 1 to 200");
  EXPECT_EQ(refusal(two.panels(), {.png_scale = std::nan("")}), "make_grid: png_scale: found nan, expected 0.1 to 16");
  EXPECT_EQ(refusal(two.panels(), {.columns = -1}), "make_grid: columns: found -1, expected 0 or more");
}

TEST(Figure, RefusesAPictureThatIsTooLarge) {
  const float zero = 0;
  const Panel wide{View<const float, 2>(&zero, {1, 40000}, {0, 0}), ""};
  EXPECT_NE(refusal({wide}).find("pixels, expected at most 32767 a side"), std::string::npos) << refusal({wide});
  const Panel square{View<const float, 2>(&zero, {20000, 20000}, {0, 0}), ""};
  EXPECT_NE(refusal({square}).find("20000 x 20000 pixels"), std::string::npos) << refusal({square});
  const Matrices matrices(2, 2, 3);
  EXPECT_NE(refusal(matrices.panels(), {.cell_size = 1000, .png_scale = 16}).find("a smaller png_scale"),
            std::string::npos);
}

}  // namespace
}  // namespace attn::draw
