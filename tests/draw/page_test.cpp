// SPDX-License-Identifier: Apache-2.0
#include <attn/draw/page.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "draw/page_text.hpp"
#include "draw/page_values.hpp"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "support/message.hpp"

namespace attn::draw {
namespace {

using nlohmann::json;
using namespace std::string_literals;

PageInput one_panel(const Tensor& values) {
  PageInput input{.title = "t", .row_labels = {"a", "b"}, .column_labels = {"x", "y", "z"}};
  input.groups = {{.name = "0", .items = {{.name = "1", .values = values}}}};
  return input;
}

Tensor two_by_three() { return Tensor::of<float>({0, 0.25f, 0.5f, 0.75f, 1, 0.125f}, 2, 3); }

std::string between(const std::string& text, const std::string& open, const std::string& close) {
  const std::size_t at = text.find(open);
  if (at == std::string::npos) return {};
  return text.substr(at + open.size(), text.find(close, at) - at - open.size());
}

json data_of(const std::string& page) {
  return json::parse(between(page, "<script type=\"application/json\" id=\"page-data\">", "</script>"));
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// A decoder of its own, written from RFC 4648.
std::vector<std::uint16_t> decode(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i + 3 < text.size(); i += 4) {
    std::uint32_t bits = 0;
    for (std::size_t k = i; k < i + 4; ++k) {
      bits = bits << 6 | static_cast<std::uint32_t>(text[k] == '=' ? 0 : digits.find(text[k]));
    }
    for (int k = 0; k < 3; ++k) bytes.push_back(static_cast<std::uint8_t>(bits >> (16 - 8 * k) & 255u));
  }
  bytes.resize(bytes.size() - count_of(text, "="));
  std::vector<std::uint16_t> codes;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
    codes.push_back(static_cast<std::uint16_t>(bytes[i] | bytes[i + 1] << 8));
  }
  return codes;
}

std::string message_of(const PageInput& input, const PageOptions& options = {}) {
  return attn::test::message_of([&] { make_page(input, options); });
}

TEST(PageText, JsonCannotLeaveItsScript) {
  const std::string nasty = "</script><!-- & \" ' \\ \u2028 \0 \x01 小明 \xff"s;
  const std::string text = json_for_script(json{{"k", nasty}});
  for (const char c : text) {
    EXPECT_GE(c, 0x20);
    EXPECT_LT(static_cast<unsigned char>(c), 0x7f);
  }
  EXPECT_EQ(text.find_first_of("<>&"), std::string::npos);
  EXPECT_EQ(json::parse(text).at("k").get<std::string>(), "</script><!-- & \" ' \\ \u2028 \0 \x01 小明 \ufffd"s);
}

TEST(PageText, HtmlIsText) {
  EXPECT_EQ(html_text("a<b>&\"c\"\n小明\0\xff"s), "a&lt;b&gt;&amp;&quot;c&quot; 小明 \ufffd");
}

TEST(PageValues, WeightsAreWithinHalfAStep) {
  ValueRange range{0, 0};
  const Tensor ends = Tensor::of<float>({0, 1}, 1, 2);
  include(range, ends);
  const ValueCodes codes(range);
  double worst = 0;
  for (int i = 0; i <= 1'000'000; ++i) {
    const double x = i / 1e6;
    worst = std::max(worst, std::abs(codes.low() + codes.step() * codes.code(x) - x));
  }
  EXPECT_LT(worst, 8e-6);
  EXPECT_EQ(codes.code(0), 0);
  EXPECT_EQ(codes.code(1), ValueCodes::kLastCode);
}

TEST(PageValues, ExtremesKeepTheirMeaning) {
  const double inf = std::numeric_limits<double>::infinity(), huge = std::numeric_limits<double>::max();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor wide = Tensor::of<double>({-huge, huge, inf, -inf, nan, 0}, 2, 3);
  ValueRange range{0, 0};
  include(range, wide);
  const ValueCodes codes(range);
  EXPECT_EQ(codes.code(-huge), 0);
  EXPECT_EQ(codes.code(huge), ValueCodes::kLastCode);
  EXPECT_EQ(codes.code(inf), ValueCodes::kInfinity);
  EXPECT_EQ(codes.code(-inf), ValueCodes::kMinusInfinity);
  EXPECT_EQ(codes.code(nan), ValueCodes::kNan);
  EXPECT_TRUE(std::isfinite(codes.step()));
  EXPECT_GT(ValueCodes(ValueRange{0, 0}).step(), 0);
}

TEST(PageValues, Base64OfEveryRemainder) {
  for (int n = 1; n <= 7; ++n) {
    Tensor t = Tensor::empty(DType::f32, 1, n);
    for (int i = 0; i < n; ++i) t.values<float>()[static_cast<std::size_t>(i)] = static_cast<float>(i) / 7;
    const ValueCodes codes(ValueRange{0, 1});
    std::string text;
    append_codes(text, t, codes);
    EXPECT_EQ(text.size() % 4, 0u);
    const std::vector<std::uint16_t> back = decode(text);
    ASSERT_EQ(back.size(), static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) EXPECT_EQ(back[static_cast<std::size_t>(i)], codes.code(static_cast<float>(i) / 7));
  }
}

TEST(Page, CarriesLabelsAndValues) {
  const Tensor values = two_by_three();
  const std::string page = make_page(one_panel(values));
  const json data = data_of(page);
  EXPECT_EQ(data["rows"], json({"a", "b"}));
  EXPECT_EQ(data["columns"], json({"x", "y", "z"}));
  EXPECT_EQ(data["groups"][0]["items"], json({"1"}));
  EXPECT_EQ(data["scale"], json({{"low", 0.0}, {"high", 1.0}}));
  EXPECT_EQ(data["colormaps"]["blues"].get<std::string>().size(), 6u * 256u);
  const auto codes = decode(between(page, "class=\"values\">", "</script>"));
  ASSERT_EQ(codes.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    const double shown = data["values"]["low"].get<double>() + codes[i] * data["values"]["step"].get<double>();
    EXPECT_NEAR(shown, values.values<float>()[i], 8e-6);
  }
}

TEST(Page, ScaleCanBeGiven) {
  const Tensor values = two_by_three();
  const json data = data_of(make_page(one_panel(values), {.colormap = Colormap::hot(), .range = ValueRange{-1, 2}}));
  EXPECT_EQ(data["scale"], json({{"low", -1.0}, {"high", 2.0}}));
  EXPECT_EQ(data["colormap"], "hot");
}

TEST(Page, ReadsStridesAndDTypes) {
  const Tensor values = two_by_three();
  const Tensor half = values.to(DType::f16);
  const std::string plain = between(make_page(one_panel(values)), "class=\"values\">", "</script>");
  EXPECT_EQ(between(make_page(one_panel(half)), "class=\"values\">", "</script>"), plain);
  const Tensor turned = Tensor::of<double>({0, 0.75, 0.25, 1, 0.5, 0.125}, 3, 2);
  PageInput input = one_panel(values);
  input.groups[0].items[0].values = turned.view<double, 2>().transpose(0, 1);
  EXPECT_EQ(between(make_page(input), "class=\"values\">", "</script>"), plain);
}

TEST(Page, ForeignTextStaysText) {
  const Tensor values = two_by_three();
  PageInput input = one_panel(values);
  input.title = "</title><script>alert(1)</script>{{data}}";
  input.subtitle = input.row_labels[0] = input.groups[0].name = "</script><script>alert(1)</script>";
  const std::string page = make_page(input);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(count_of(page, "<script"), 3u);
  EXPECT_EQ(count_of(page, "</script>"), 3u);
  EXPECT_NE(page.find("{{data}}</title>"), std::string::npos);
  EXPECT_EQ(data_of(page)["rows"][0], "</script><script>alert(1)</script>");
}

TEST(Page, NeedsNothingElse) {
  const Tensor values = two_by_three();
  const std::string page = make_page(one_panel(values));
  for (const char* outside : {"http://", "https://", "@import", "url(", "src=", "fetch(", "XMLHttpRequest"}) {
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  }
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

TEST(Page, BadInputIsNamed) {
  const Tensor values = two_by_three();
  PageInput input = one_panel(values);
  input.row_labels.push_back("c");
  EXPECT_EQ(message_of(input),
            "make_page: groups[0].items[0].values: shape (2, 3), expected (3, 3) as there are labels");
  input = one_panel(values);
  input.column_labels.clear();
  EXPECT_EQ(message_of(input), "make_page: column_labels: none given, expected at least one");
  input.groups.clear();
  input.column_labels = {"x"};
  EXPECT_EQ(message_of(input), "make_page: groups: no panels given, expected at least one");
  const Tensor cube = Tensor::zeros(DType::f32, 1, 2, 3), integers = Tensor::zeros(DType::i32, 2, 3);
  EXPECT_EQ(message_of(one_panel(cube)), "make_page: groups[0].items[0].values: rank 3, expected 2");
  EXPECT_EQ(message_of(one_panel(integers)),
            "make_page: groups[0].items[0].values: dtype i32, expected f32, f64, bf16 or f16");
  EXPECT_EQ(message_of(one_panel(values), {.range = ValueRange{2, 1}}),
            "make_page: range: found 2 to 1, expected finite ends, min below max");
  input = one_panel(values);
  input.groups[0].items[0].values = In<2>(DType::f32, nullptr, {2, 3}, {3, 1});
  EXPECT_EQ(message_of(input), "make_page: groups[0].items[0].values: null pointer, expected values");
}

// The values are not there: the limit is checked before anything is read.
TEST(Page, TooManyValuesAreRefused) {
  PageInput input;
  input.row_labels.resize(8001, "r");
  input.column_labels.resize(8000, "c");
  input.groups = {{.name = "0", .items = {{.name = "0", .values = {}}}}};
  EXPECT_EQ(
      message_of(input),
      "make_page: groups: 1 panels of 8001 x 8000 are more values than a page can hold, expected at most 64000000");
}

}  // namespace
}  // namespace attn::draw
