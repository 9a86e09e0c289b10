// SPDX-License-Identifier: Apache-2.0
#include "draw/layout.hpp"

#include <gtest/gtest.h>

namespace attn::draw {
namespace {

struct Thing {
  std::string name;
  Box box;
};

std::vector<Thing> things_of(const FigureLayout& layout) {
  std::vector<Thing> things;
  for (const Box& panel : layout.panels) things.push_back({"panel", panel});
  things.push_back({"bar", layout.bar});
  if (layout.nan_swatch) things.push_back({"NaN swatch", *layout.nan_swatch});
  for (const Text& text : layout.texts) things.push_back({text.text, text.box});
  return things;
}

bool overlap(const Box& a, const Box& b) {
  const double slack = 1e-3;
  return a.x + slack < b.right() && b.x + slack < a.right() && a.y + slack < b.bottom() && b.y + slack < a.bottom();
}

struct Case {
  std::ptrdiff_t panels, rows, columns, across;
  std::string label;  // stem of every label; empty for none
  bool titles;
};

class Layout : public testing::TestWithParam<Case> {};

TEST_P(Layout, NothingOverlapsAndNothingSticksOut) {
  const Case& c = GetParam();
  FigureContent content{c.rows, c.columns, std::vector<std::string>(static_cast<std::size_t>(c.panels)), {0, 1}, true};
  FigureOptions options;
  options.columns = c.across;
  if (c.titles) {
    for (std::string& title : content.titles) title = "Layer 11 head 11";
    options.title = "A title that is longer than a small figure is wide, by some words";
    options.row_title = "query";
    options.column_title = "key";
    options.scale_title = "attention weight";
  }
  for (std::ptrdiff_t i = 0; i < c.rows && !c.label.empty(); ++i) {
    options.row_labels.push_back(c.label + std::to_string(i));
  }
  for (std::ptrdiff_t i = 0; i < c.columns && !c.label.empty(); ++i) {
    options.column_labels.push_back(c.label + std::to_string(i));
  }
  const FigureLayout layout = lay_out(content, options, TextRenderer(options.font_family));
  const std::vector<Thing> things = things_of(layout);
  for (std::size_t i = 0; i < things.size(); ++i) {
    const Box& box = things[i].box;
    EXPECT_TRUE(box.x >= 0 && box.y >= 0 && box.right() <= layout.width && box.bottom() <= layout.height)
        << things[i].name;
    for (std::size_t k = 0; k < i; ++k) {
      ASSERT_FALSE(overlap(box, things[k].box)) << things[i].name << " and " << things[k].name;
    }
  }
  // Labels stay of a size that can be read.
  for (const Text& text : layout.texts) EXPECT_GE(text.style.size, 6) << text.text;
}

INSTANTIATE_TEST_SUITE_P(Shapes, Layout,
                         testing::Values(Case{1, 1, 1, 0, "[CLS]", true},                       //
                                         Case{5, 1, 1, 0, "[CLS]", true},                       //
                                         Case{1, 8, 8, 0, "saw", true},                         //
                                         Case{12, 12, 12, 0, "token", true},                    //
                                         Case{12, 12, 12, 0, "a-very-very-long-token-", true},  //
                                         Case{7, 5, 9, 3, "人工智能", true},                    //
                                         Case{144, 12, 12, 12, "word", true},                   //
                                         Case{6, 64, 64, 0, "word", true},                      //
                                         Case{6, 256, 256, 0, "word", true},                    //
                                         Case{3, 1, 64, 0, "word", true},                       //
                                         Case{3, 64, 1, 0, "word", true},                       //
                                         Case{4, 2000, 3, 0, "word", true},                     //
                                         Case{4, 6, 6, 0, "", false},                           //
                                         Case{5, 6, 6, 3, "in", false}));

TEST(Layout, CellsAreSquareAndKeepToTheWidth) {
  FigureContent content{12, 12, std::vector<std::string>(12, "head"), {0, 1}, false};
  FigureOptions options;
  options.max_width = 900;
  const FigureLayout layout = lay_out(content, options, TextRenderer(options.font_family));
  EXPECT_EQ(layout.cell_width, layout.cell_height);
  EXPECT_LE(layout.width, 900);
  EXPECT_GT(layout.width, 800);
  options.cell_size = 9;
  EXPECT_EQ(lay_out(content, options, TextRenderer(options.font_family)).cell_width, 9);
}

}  // namespace
}  // namespace attn::draw
