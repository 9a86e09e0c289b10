// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <attn/draw/display_width.hpp>
#include <attn/draw/terminal.hpp>
#include <attn/tensor.hpp>
#include <cmath>
#include <regex>
#include <sstream>

#include "draw/ansi.hpp"
#include "support/message.hpp"

namespace attn::draw {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string stripped(const std::string& line) { return std::regex_replace(line, std::regex("\x1b\\[[0-9;]*m"), ""); }

Tensor values_of(std::ptrdiff_t rows, std::ptrdiff_t columns) {
  Tensor t = Tensor::empty(DType::f32, rows, columns);
  float x = 0;
  for (float& value : t.values<float>()) value = x = std::fmod(x + 0.37f, 1.0f);
  return t;
}

TEST(Terminal, DrawsShadesWithoutColours) {
  const Tensor values = Tensor::of<float>({0, 0.25f, 0.5f, 0.75f, 1, std::nanf("")}, 2, 3);
  TerminalOptions options;
  options.row_labels = {"saw", "北京"};
  options.column_labels = {"I", "在", "a"};
  options.colours = TerminalColours::none;
  options.title = "Layer 1 head 2";
  EXPECT_EQ(terminal_heat_map(values, options),
            "Layer 1 head 2\n"
            "      I 在  a\n"
            " saw    ░░░▒▒▒\n"
            "北京 ▓▓▓███???\n"
            "0   ░░░░▒▒▒▒▓▓▓▓██ 1  ?? NaN\n");
}

TEST(Terminal, EachCellHasTheColourOfItsValue) {
  const Tensor values = values_of(3, 4);
  TerminalOptions options;
  options.colormap = Colormap::hot();
  options.range = ValueRange{-1, 1};
  const std::vector<std::string> lines = lines_of(terminal_heat_map(values, options));
  ASSERT_EQ(lines.size(), 4u);
  for (std::ptrdiff_t r = 0; r < 3; ++r) {
    std::string expected;
    for (std::ptrdiff_t c = 0; c < 4; ++c) {
      const Rgb colour = options.colormap.rgb((double{values.view<float, 2>()(r, c)} + 1) / 2);
      expected += "\x1b[48;2;" + std::to_string(colour.red) + ";" + std::to_string(colour.green) + ";" +
                  std::to_string(colour.blue) + "m  ";
    }
    EXPECT_EQ(lines[static_cast<std::size_t>(r)], expected + "\x1b[0m");
  }
  EXPECT_EQ(stripped(lines[3]), "-1                  1");
}

TEST(Terminal, ColumnsStandInLine) {
  const std::vector<std::string> labels = {"[CLS]", "小明", "naïve", "🍕", "a", "نص", "[SEP]"};
  for (const TerminalColours colours : {TerminalColours::none, TerminalColours::palette, TerminalColours::full}) {
    TerminalOptions options;
    options.row_labels = options.column_labels = labels;
    options.colours = colours;
    const Tensor values = values_of(7, 7);
    const std::vector<std::string> lines = lines_of(terminal_heat_map(values, options));
    ASSERT_EQ(lines.size(), 9u);
    for (std::size_t r = 1; r < 8; ++r) {
      const std::string line = stripped(lines[r]);
      // Labels end in column 5, then a space, then seven cells of 6.
      if (colours != TerminalColours::none) {
        EXPECT_EQ(display_width(line), 6 + 7 * 6) << line;
      }
      EXPECT_EQ(display_width(line.substr(0, line.find(labels[r - 1]) + labels[r - 1].size())), 5) << line;
    }
    // Each label lies within its cell of the header.
    for (std::size_t c = 0; c < labels.size(); ++c) {
      const std::size_t at = lines[0].find(" " + labels[c]);
      ASSERT_NE(at, std::string::npos) << labels[c];
      const std::ptrdiff_t begin = display_width(lines[0].substr(0, at + 1));
      EXPECT_GE(begin, 6 + 6 * static_cast<std::ptrdiff_t>(c));
      EXPECT_LE(begin + display_width(labels[c]), 6 + 6 * static_cast<std::ptrdiff_t>(c + 1));
    }
  }
}

TEST(Terminal, LongLabelsAreWrittenDownwards) {
  TerminalOptions options;
  options.column_labels = {"在", "unbelievable-token", "ab"};
  options.colours = TerminalColours::none;
  const std::vector<std::string> lines = lines_of(terminal_heat_map(values_of(1, 3), options));
  ASSERT_EQ(lines.size(), 14u);
  EXPECT_EQ(lines[0], "  u");
  EXPECT_EQ(lines[6], "  ⋮");
  EXPECT_EQ(lines[10], "  e a");
  EXPECT_EQ(lines[11], "在n b");
}

TEST(Terminal, KeepsToTheWidthAndSaysSo) {
  for (const std::ptrdiff_t width : {40, 57, 80}) {
    TerminalOptions options;
    options.max_width = width;
    options.title = std::string(100, 'x');
    for (int i = 0; i < 64; ++i) options.column_labels.push_back("column" + std::to_string(i));
    options.row_labels = {"a label that is much longer than a third of a narrow terminal", "b"};
    const std::string text = terminal_heat_map(values_of(2, 64), options);
    for (const std::string& line : lines_of(text)) EXPECT_LE(display_width(stripped(line)), width) << line;
    const std::ptrdiff_t shown = (width - width / 3 - 1) / 2;
    EXPECT_NE(text.find("Columns 1 to " + std::to_string(shown) + " of 64 fit.\n"), std::string::npos) << text;
  }
}

TEST(Terminal, LeavesNoColourBehind) {
  for (const TerminalColours colours : {TerminalColours::palette, TerminalColours::full}) {
    for (const std::string& line : lines_of(terminal_heat_map(values_of(4, 4), {.colours = colours}))) {
      const std::size_t reset = line.rfind("\x1b[0m");
      ASSERT_NE(reset, std::string::npos);
      EXPECT_GT(reset, line.rfind("\x1b[48"));
    }
  }
  const std::string plain = terminal_heat_map(values_of(4, 4), {.colours = TerminalColours::none});
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
}

TEST(Terminal, PaletteTakesTheNearestColour) {
  EXPECT_EQ(palette_index({0, 0, 0}), 16);
  EXPECT_EQ(palette_index({255, 255, 255}), 231);
  EXPECT_EQ(palette_index({255, 0, 0}), 196);
  EXPECT_EQ(palette_index({95, 135, 175}), 67);
  EXPECT_EQ(palette_index({100, 130, 180}), 67);
  EXPECT_EQ(palette_index({128, 128, 128}), 244);
  EXPECT_EQ(palette_index({9, 8, 7}), 232);
  EXPECT_EQ(palette_index({238, 238, 238}), 255);
}

std::string refusal(const In<2>& values, const TerminalOptions& options) {
  return attn::test::message_of([&] { terminal_heat_map(values, options); });
}

TEST(Terminal, RefusesWithASentence) {
  const Tensor values = values_of(2, 3);
  EXPECT_EQ(refusal({}, {}), "terminal_heat_map: values: dtype none, expected f32");
  EXPECT_EQ(refusal(values, {.row_labels = {"a"}}),
            "terminal_heat_map: row_labels: found 1, expected 2 as in the matrix");
  EXPECT_EQ(refusal(values, {.column_labels = {"a"}}),
            "terminal_heat_map: column_labels: found 1, expected 3 as in the matrix");
  EXPECT_EQ(refusal(values, {.max_width = 39}), "terminal_heat_map: max_width: found 39, expected 40 or more");
  EXPECT_EQ(refusal(values, {.range = ValueRange{2, 1}}),
            "terminal_heat_map: range: found 2 to 1, expected finite ends, min below max");
}

}  // namespace
}  // namespace attn::draw
