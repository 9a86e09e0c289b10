// SPDX-License-Identifier: Apache-2.0
#include "draw/svg_text.hpp"

#include <gtest/gtest.h>

#include <attn/error.hpp>

namespace attn::draw {
namespace {

TEST(SvgText, Resizes) {
  std::string svg = "<svg a=\"1\" width=\"40pt\" height=\"80\" viewBox=\"0 0 40 80\">";
  resize_svg(svg, 10.5, 20);
  EXPECT_EQ(svg, "<svg a=\"1\" width=\"10.5px\" height=\"20px\" viewBox=\"0 0 40 80\">");
  std::string other = "<svg>";
  EXPECT_THROW(resize_svg(other, 1, 1), Error);
}

TEST(SvgText, SharpensOnlyImagesOfThatSize) {
  std::string svg =
      "<image id=\"a\" width=\"3\" height=\"2\" xlink:href=\"x\"/><image width=\"2\" height=\"3\" xlink:href=\"x\"/>"
      "<image width=\"3\" height=\"2\" image-rendering=\"y\" xlink:href=\"x\"/>";
  keep_pixels_square(svg, 3, 2);
  EXPECT_EQ(svg,
            "<image style=\"image-rendering:pixelated\" id=\"a\" width=\"3\" height=\"2\" xlink:href=\"x\"/>"
            "<image width=\"2\" height=\"3\" xlink:href=\"x\"/>"
            "<image width=\"3\" height=\"2\" image-rendering=\"y\" xlink:href=\"x\"/>");
}

TEST(SvgText, RenumbersInTheOrderOfMention) {
  EXPECT_EQ(renumber_ids("<a id=\"image7\"/><b xlink:href=\"#glyph0-1\" fill=\"url(#image7)\"/><c id=\"glyph0-1\"/>"),
            "<a id=\"e0\"/><b xlink:href=\"#e1\" fill=\"url(#e0)\"/><c id=\"e1\"/>");
  EXPECT_EQ(renumber_ids("<svg/>"), "<svg/>");
}

}  // namespace
}  // namespace attn::draw
