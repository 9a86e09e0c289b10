// SPDX-License-Identifier: Apache-2.0
// The properties stay those of the Unicode versions that models were trained with, whatever the version of ICU.
#include "io/unicode.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "io/characters.hpp"
#include "io/normal_form.hpp"
#include "io/utf8.hpp"

namespace {

using namespace attn::io;

std::u32string decoded(std::string_view text) {
  std::u32string codes;
  bool replaced = false;
  for (const Character& c : to_characters(text, replaced)) codes.push_back(c.code);
  return codes;
}

std::u32string normal(std::u32string_view text, NormalForm form) {
  Characters characters;
  for (const char32_t c : text) characters.push_back({c, 0, 0});
  to_normal_form(characters, form);
  std::u32string codes;
  for (const Character& c : characters) codes.push_back(c.code);
  return codes;
}

// The characters of which a property does not hold.
std::u32string without(bool (*property)(char32_t) noexcept, std::u32string_view characters) {
  std::u32string rest;
  for (const char32_t c : characters)
    if (!property(c)) rest.push_back(c);
  return rest;
}

TEST(Unicode, CategoriesAreThoseOfVersion8) {
  EXPECT_EQ(without(is_nonspacing_mark, U"\u0300\u0591\u18A9\u1734\U0001171E\U000111CA"), U"");
  const std::u32string no_marks = U"\u1DF6\u08CA\u1ABF\u0D00\U0001E000\U000111C9\u1885\uA9BDa";
  EXPECT_EQ(without(is_nonspacing_mark, no_marks), no_marks);
  EXPECT_EQ(without(is_punctuation, U"!$`\u2019\u3001\u166D\U000111C9"), U"");
  const std::u32string no_points = U"\u061D\u2E52\U00010EAD\u20AC1a";
  EXPECT_EQ(without(is_punctuation, no_points), no_points);
  EXPECT_EQ(without(is_control, U"\x01\x7F\x85\xAD\u200B\uFEFF\uE000\U0010FFFD"), U"");
  const std::u32string no_controls = U"\t\n\r \u0378\uFFFF\u08E2\U00013430";
  EXPECT_EQ(without(is_control, no_controls), no_controls);
}

TEST(Unicode, LowerCaseIsThatOfVersion17) {
  EXPECT_EQ(to_lower(U'Σ'), U'σ');
  EXPECT_EQ(to_lower(0x1C89), 0x1C8Au);
  EXPECT_EQ(to_lower(0xA7CB), 0x264u);
  EXPECT_EQ(to_lower(0xA7DC), 0x19Bu);
  EXPECT_EQ(to_lower(0x10D65), 0x10D85u);
  EXPECT_EQ(to_lower(0x16EB8), 0x16ED3u);
  EXPECT_EQ(to_lower(U'ß'), U'ß');
}

TEST(Unicode, NormalForms) {
  EXPECT_EQ(normal(U"\u1E69", NormalForm::nfd), U"s\u0323\u0307");
  EXPECT_EQ(normal(U"s\u0307\u0323", NormalForm::nfc), U"\u1E69");
  EXPECT_EQ(normal(U"\uAC01", NormalForm::nfd), U"\u1100\u1161\u11A8");
  EXPECT_EQ(normal(U"\u1100\u1161\u11A8", NormalForm::nfc), U"\uAC01");
  EXPECT_EQ(normal(U"\u212B", NormalForm::nfc), U"\u00C5");
  EXPECT_EQ(normal(U"\u0958", NormalForm::nfc), U"\u0915\u093C");  // excluded from composition
  EXPECT_EQ(normal(U"a\u0315\u0300\u05AE\u0062", NormalForm::nfc), U"\u00E0\u05AE\u0315b");
  EXPECT_EQ(normal(U"\u1D15E", NormalForm::nfd), U"\u1D15E");
  EXPECT_EQ(normal(U"\U0001D15E", NormalForm::nfd), U"\U0001D157\U0001D165");
  EXPECT_EQ(normal(U"\u32FF\u2460", NormalForm::nfkc),
            U"\u32FF"
            U"1");                                                   // U+32FF came with version 12.1
  EXPECT_EQ(normal(U"\U00011938", NormalForm::nfd), U"\U00011938");  // 13
  EXPECT_EQ(normal(U"\uFDFA", NormalForm::nfkd).size(), kMaxDecomposed);
}

TEST(Utf8, OneReplacementForEachMaximalPart) {
  EXPECT_EQ(decoded("aé中😀"), U"aé中😀");
  EXPECT_EQ(decoded("\xF0\x9F\x98"), U"\uFFFD");
  EXPECT_EQ(decoded("\xE4\xB8\xE4\xB8\xAD"), U"\uFFFD中");
  EXPECT_EQ(decoded("\xC0\x80"), U"\uFFFD\uFFFD");            // overlong
  EXPECT_EQ(decoded("\xED\xA0\x80"), U"\uFFFD\uFFFD\uFFFD");  // a surrogate
  EXPECT_EQ(decoded("\xF4\x90\x80\x80"), U"\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(decoded("\xE0\x9F\x80x"), U"\uFFFD\uFFFD\uFFFDx");
  EXPECT_EQ(decoded("\xFF"
                    "a\x80"),
            U"\uFFFDa\uFFFD");
}

TEST(Utf8, RoundTrip) {
  for (const char32_t c : {0x0u, 0x7Fu, 0x80u, 0x7FFu, 0x800u, 0xD7FFu, 0xE000u, 0xFFFFu, 0x10000u, 0x10FFFFu}) {
    std::string text;
    append_utf8(c, text);
    const Decoded back = decode_utf8(text, 0);
    EXPECT_TRUE(back.valid);
    EXPECT_EQ(back.code, c);
    EXPECT_EQ(back.bytes, text.size());
  }
}

}  // namespace
