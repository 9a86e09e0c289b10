// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <attn/draw/display_width.hpp>

namespace attn::draw {
namespace {

TEST(DisplayWidth, FollowsUnicode) {
  EXPECT_EQ(display_width(""), 0);
  EXPECT_EQ(display_width("saw"), 3);
  EXPECT_EQ(display_width("人工智能"), 8);
  EXPECT_EQ(display_width("ｆｕｌｌ"), 8);
  EXPECT_EQ(display_width("naïve"), 5);        // i with a mark of its own
  EXPECT_EQ(display_width("nai\u0308ve"), 5);  // i, then a combining mark
  EXPECT_EQ(display_width("Ω░"), 2);           // ambiguous
  EXPECT_EQ(display_width("مرحبا"), 5);
  EXPECT_EQ(display_width("한국"), 4);
  EXPECT_EQ(display_width("\u1112\u1161\u11ab"), 2);  // the syllable han from its three letters
  EXPECT_EQ(display_width("🍕"), 2);
  EXPECT_EQ(display_width("❤"), 1);
  EXPECT_EQ(display_width("❤\uFE0F"), 2);  // as an emoji
  EXPECT_EQ(display_width("🇫🇷"), 2);
  EXPECT_EQ(display_width("👩\u200D👩\u200D👧"), 2);
  EXPECT_EQ(display_width("soft\u00ADhyphen"), 11);
}

TEST(DisplayWidth, MakesTextSafeToPrint) {
  EXPECT_EQ(elide("a\x1b[31mb", 20), "a\uFFFD[31mb");
  EXPECT_EQ(elide("two\nlines\t\x7f", 20), "two\uFFFDlines\uFFFD\uFFFD");
  EXPECT_EQ(elide("\u009B2J", 20), "\uFFFD2J");
  EXPECT_EQ(elide("\xFF", 20), "\uFFFD");
  EXPECT_EQ(elide("a\u202Eb\u2066c", 20), "abc");
  EXPECT_EQ(elide("a\u2028b", 20), "a\uFFFDb");
  EXPECT_EQ(display_width("a\nb"), 3);
}

TEST(Elide, CutsInTheMiddle) {
  EXPECT_EQ(elide("abcdef", 6), "abcdef");
  EXPECT_EQ(elide("abcdefgh", 6), "abc…gh");
  EXPECT_EQ(elide("abcdefgh", 5), "ab…gh");
  EXPECT_EQ(elide("abcdefgh", 1), "…");
  EXPECT_EQ(elide("abcdefgh", 0), "");
}

TEST(Elide, CutsNoCharacterInTwo) {
  EXPECT_EQ(elide("人工智能", 7), "人…能");
  EXPECT_EQ(elide("人工智能", 5), "人…能");
  EXPECT_EQ(elide("人工智能", 4), "人…");
  EXPECT_EQ(elide("人工智能", 2), "…");
  EXPECT_EQ(elide("e\u0301e\u0301e\u0301e\u0301", 3), "e\u0301…e\u0301");
  for (const std::string text : {"a人b工c智d能e", "👩\u200D👩\u200D👧 🇫🇷 saw", "नमस्ते"}) {
    for (std::ptrdiff_t width = 0; width < 20; ++width) {
      EXPECT_LE(display_width(elide(text, width)), width) << text;
    }
  }
}

}  // namespace
}  // namespace attn::draw
