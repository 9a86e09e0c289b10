// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <ctime>

#include "draw/picture.hpp"

namespace attn::draw {
namespace {

// All heads of a 12-layer model on 256 tokens: the most that a person looks at in one picture.
TEST(LargeFigure, AllHeadsOfAModelInSeconds) {
  const Matrices matrices(144, 256, 256);
  FigureOptions options;
  options.columns = 12;
  options.row_labels = options.column_labels = numbered("token", 256);
  const std::clock_t start = std::clock();
  const Figure figure = make_grid(matrices.panels(), options);
  const std::string png = figure.encode(FigureFormat::png);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  RecordProperty("seconds", std::to_string(seconds));
  EXPECT_LT(seconds, 5) << "of processor time";
  EXPECT_LT(png.size(), std::size_t{40} << 20);
  const Picture picture(png);
  EXPECT_LE(picture.width(), 32767);
  EXPECT_GE(picture.width(), 12 * 256);
}

}  // namespace
}  // namespace attn::draw
