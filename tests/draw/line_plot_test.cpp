// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <attn/draw/line_plot.hpp>
#include <attn/error.hpp>
#include <cmath>
#include <fstream>
#include <limits>

#include "draw/picture.hpp"

namespace attn::draw {
namespace {

const Line kFalling{{0, 100, 200, 300}, {2, 1, 0.5, 0.25}, "training"};

constexpr int kPixels = 4;  // a unit, so that a line has pixels that are all its own
const LinePlotOptions kSmall{.width = 400, .height = 300, .png_scale = kPixels};

// Whether some pixel in the middle of column `x`, in units, has the colour.
bool has_colour(const Picture& picture, int x, Rgb colour) {
  for (int y = 0; y < picture.height(); ++y) {
    if (picture.at(kPixels * x + kPixels / 2, y) == colour) return true;
  }
  return false;
}

TEST(LinePlot, ShowsEachLineInItsColourAndBreaksItWhereItIsNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Line broken{{0, 100, 150, 200, 300}, {1, 1, nan, 1.5, 1.5}, ""};
  const Line lines[] = {{{0, 300}, {0.25, 0.25}, ""}, broken};
  const Picture picture(line_plot(lines, FigureFormat::png, kSmall));
  EXPECT_EQ(picture.width(), 400 * kPixels);
  EXPECT_EQ(picture.height(), 300 * kPixels);
  const Rgb first{0, 114, 178}, second{213, 94, 0};
  int with_second = 0;
  for (int x = 60; x < 360; ++x) {
    EXPECT_TRUE(has_colour(picture, x, first)) << x;
    with_second += has_colour(picture, x, second);
  }
  // A third of its way is left out.
  EXPECT_GT(with_second, 170);
  EXPECT_LT(with_second, 230);
}

TEST(LinePlot, EveryFormatAndTheSameBytesAgain) {
  const LinePlotOptions options{.title = "Loss", .x_title = "step", .y_title = "nats"};
  for (const FigureFormat format : {FigureFormat::png, FigureFormat::svg, FigureFormat::pdf}) {
    const std::string bytes = line_plot({&kFalling, 1}, format, options);
    EXPECT_EQ(bytes, line_plot({&kFalling, 1}, format, options));
    EXPECT_GT(bytes.size(), 1000u);
  }
  if (const char* folder = std::getenv("ATTN_KEEP_PICTURES")) {
    std::ofstream(std::string(folder) + "/line_plot.png", std::ios::binary)
        << line_plot({&kFalling, 1}, FigureFormat::png, options);
  }
}

TEST(LinePlot, APointAloneAndALevelLineAreShown) {
  const Line point{{5}, {3}, ""};
  const Picture picture(line_plot({&point, 1}, FigureFormat::png, kSmall));
  bool is_shown = false;
  for (int x = 0; x < 400; ++x) is_shown = is_shown || has_colour(picture, x, {0, 114, 178});
  EXPECT_TRUE(is_shown);
}

void expect_refused(const std::vector<Line>& lines, const LinePlotOptions& options, const std::string& sentence) {
  try {
    line_plot(lines, FigureFormat::png, options);
    ADD_FAILURE() << "expected: " << sentence;
  } catch (const Error& e) {
    EXPECT_EQ(e.what(), sentence);
  }
}

TEST(LinePlot, RefusesWhatItCannotDraw) {
  expect_refused({}, {}, "line_plot: lines: found 0, expected 1 to 8");
  expect_refused({{{1, 2}, {1}, ""}}, {}, "line_plot: lines[0]: 1 values of y, expected 2 as of x");
  expect_refused({{{INFINITY}, {1}, ""}}, {}, "line_plot: lines[0]: x[0] is inf, expected a finite number");
  expect_refused({{{1}, {INFINITY}, ""}}, {}, "line_plot: lines: no finite point in any of them");
  expect_refused({kFalling}, {.width = 10}, "line_plot: width: found 10, expected 200 to 8000");
}

}  // namespace
}  // namespace attn::draw
