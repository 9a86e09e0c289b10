// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <attn/draw/colormap.hpp>
#include <attn/error.hpp>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace attn::draw {
namespace {

void expect_near(Rgb found, int red, int green, int blue) {
  EXPECT_LE(std::abs(found.red - red), 5) << int{found.red};
  EXPECT_LE(std::abs(found.green - green), 5) << int{found.green};
  EXPECT_LE(std::abs(found.blue - blue), 5) << int{found.blue};
}

TEST(Colormap, EndsAreThePublishedColours) {
  EXPECT_EQ(Colormap::blues().rgb(0), (Rgb{247, 251, 255}));
  EXPECT_EQ(Colormap::blues().rgb(1), (Rgb{8, 48, 107}));
  EXPECT_EQ(Colormap::hot().rgb(0), (Rgb{0, 0, 0}));
  EXPECT_EQ(Colormap::hot().rgb(1), (Rgb{255, 255, 255}));
  EXPECT_EQ(Colormap::viridis().rgb(0), (Rgb{68, 1, 84}));
  EXPECT_EQ(Colormap::viridis().rgb(1), (Rgb{253, 231, 37}));
}

TEST(Colormap, BetweenAnchorsItFollowsThePublishedTable) {
  // Entries 64, 128 and 248 of the 256 of viridis, none of them an anchor.
  expect_near(Colormap::viridis().rgb(64 / 255.0), 59, 82, 139);
  expect_near(Colormap::viridis().rgb(128 / 255.0), 33, 145, 140);
  expect_near(Colormap::viridis().rgb(248 / 255.0), 236, 229, 27);
  expect_near(Colormap::hot().rgb(0.375), 255, 0, 0);
  expect_near(Colormap::blues().rgb(0.5), 107, 174, 214);
}

TEST(Colormap, BlueGetsDarkerAllTheWay) {
  int before = 1000;
  for (int i = 0; i <= 1000; ++i) {
    const Rgb c = Colormap::blues().rgb(i / 1000.0);
    const int sum = c.red + c.green + c.blue;
    EXPECT_LE(sum, before) << i;
    before = sum;
  }
}

TEST(Colormap, OutsideTheScaleAndNan) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const std::string_view name : Colormap::names()) {
    const Colormap map = Colormap::named(name);
    EXPECT_EQ(map.name(), name);
    EXPECT_EQ(map.rgb(-1), map.rgb(0));
    EXPECT_EQ(map.rgb(-inf), map.rgb(0));
    EXPECT_EQ(map.rgb(inf), map.rgb(1));
    EXPECT_EQ(map.rgb(std::nan("")), kNanColour);
  }
}

TEST(Colormap, AnUnknownNameListsTheChoices) {
  try {
    Colormap::named("jet");
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "Colormap::named: name: found \"jet\", expected one of blues, hot, viridis");
  }
}

}  // namespace
}  // namespace attn::draw
