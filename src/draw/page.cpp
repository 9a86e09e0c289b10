// SPDX-License-Identifier: Apache-2.0
#include <attn/draw/page.hpp>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/concat.hpp"
#include "draw/matrix.hpp"
#include "draw/page_assets.hpp"
#include "draw/page_text.hpp"
#include "draw/page_values.hpp"

namespace attn::draw {
namespace {

using nlohmann::json;

[[noreturn]] void fail(std::string_view argument, std::string_view what) { throw Error("make_page", argument, what); }

void check_panel(const PageInput& input, std::size_t g, std::size_t i) {
  const In<2>& values = input.groups[g].items[i].values;
  const std::string name = base::concat("groups[", g, "].items[", i, "].values");
  const auto rows = static_cast<std::ptrdiff_t>(input.row_labels.size());
  const auto columns = static_cast<std::ptrdiff_t>(input.column_labels.size());
  if (values.rank_found() != 2) fail(name, base::concat("rank ", values.rank_found(), ", expected 2"));
  if (!is_floating(values.dtype())) {
    fail(name, base::concat("dtype ", name_of(values.dtype()), ", expected f32, f64, bf16 or f16"));
  }
  if (values.extent(0) != rows || values.extent(1) != columns) {
    fail(name, base::concat("shape ", base::shape_text(values.extents().n), ", expected (", rows, ", ", columns,
                            ") as there are labels"));
  }
  if (!values.data()) fail(name, "null pointer, expected values");
}

// The number of panels.
std::size_t check(const PageInput& input) {
  if (input.row_labels.empty()) fail("row_labels", "none given, expected at least one");
  if (input.column_labels.empty()) fail("column_labels", "none given, expected at least one");
  std::size_t panels = 0;
  for (const PageGroup& group : input.groups) panels += group.items.size();
  if (panels == 0) fail("groups", "no panels given, expected at least one");
  const double values = static_cast<double>(panels) * static_cast<double>(input.row_labels.size()) *
                        static_cast<double>(input.column_labels.size());
  if (values > static_cast<double>(kMaxPageValues)) {
    fail("groups", base::concat(panels, " panels of ", input.row_labels.size(), " x ", input.column_labels.size(),
                                " are more values than a page can hold, expected at most ", kMaxPageValues));
  }
  for (std::size_t g = 0; g < input.groups.size(); ++g) {
    for (std::size_t i = 0; i < input.groups[g].items.size(); ++i) check_panel(input, g, i);
  }
  return panels;
}

std::string hex(const Rgb& colour) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t c : {colour.red, colour.green, colour.blue}) {
    text += kDigits[c >> 4];
    text += kDigits[c & 15u];
  }
  return text;
}

// Every colour map as 256 colours of six hexadecimal digits, so that the page draws what the other pictures do.
json colormaps() {
  json maps = json::object();
  for (const std::string_view name : Colormap::names()) {
    std::string colours;
    for (int i = 0; i < 256; ++i) colours += hex(Colormap::named(name).rgb(i / 255.0));
    maps[std::string(name)] = colours;
  }
  return maps;
}

json words_json(const PageWords& words) {
  return {{"row", words.row},         {"rows", words.rows},           {"column", words.column},
          {"columns", words.columns}, {"group", words.group},         {"item", words.item},
          {"value", words.value},     {"row_shows", words.row_shows}, {"column_shows", words.column_shows}};
}

json groups_json(const std::vector<PageGroup>& groups) {
  json result = json::array();
  for (const PageGroup& group : groups) {
    json names = json::array();
    for (const PageItem& item : group.items) names.push_back(item.name);
    result.push_back({{"name", group.name}, {"items", names}});
  }
  return result;
}

json page_json(const PageInput& input, const PageOptions& options, const ValueCodes& codes) {
  const ValueRange stored{codes.low(), codes.low() + codes.step() * ValueCodes::kLastCode};
  const ValueRange scale = options.range.value_or(stored);
  return {{"title", input.title},
          {"subtitle", input.subtitle},
          {"rows", input.row_labels},
          {"columns", input.column_labels},
          {"groups", groups_json(input.groups)},
          {"words", words_json(options.words)},
          {"values", {{"low", codes.low()}, {"step", codes.step()}}},
          {"scale", {{"low", scale.min}, {"high", scale.max}}},
          {"colormap", options.colormap.name()},
          {"colormaps", colormaps()},
          {"nan", {kNanColour.red, kNanColour.green, kNanColour.blue}}};
}

void append_panels(std::string& page, const PageInput& input, const ValueCodes& codes) {
  for (const PageGroup& group : input.groups) {
    for (const PageItem& item : group.items) {
      page += "<script type=\"text/plain\" class=\"values\">";
      append_codes(page, item.values, codes);
      page += "</script>\n";
    }
  }
}

}  // namespace

// The template is read once from front to back, so that a {{name}} in somebody's text stays text.
std::string make_page(const PageInput& input, const PageOptions& options) {
  const std::size_t panels = check(input);
  if (options.range) check_range("make_page", *options.range);
  ValueRange range{0, 0};
  for (const PageGroup& group : input.groups) {
    for (const PageItem& item : group.items) include(range, item.values);
  }
  const ValueCodes codes(range);
  const std::string data = json_for_script(page_json(input, options, codes));

  std::string page;
  const std::size_t panel_bytes = (input.row_labels.size() * input.column_labels.size() * 2 + 2) / 3 * 4 + 64;
  page.reserve(kPageHtml.size() + kPageStyle.size() + kPageScript.size() + data.size() + panels * panel_bytes);
  std::string_view rest = kPageHtml;
  for (std::size_t open = rest.find("{{"); open != std::string_view::npos; open = rest.find("{{")) {
    const std::size_t close = rest.find("}}", open);
    const std::string_view name = rest.substr(open + 2, close - open - 2);
    page += rest.substr(0, open);
    if (name == "title") page += html_text(input.title);
    if (name == "style") page += kPageStyle;
    if (name == "data") page += data;
    if (name == "values") append_panels(page, input, codes);
    if (name == "script") page += kPageScript;
    rest = rest.substr(close + 2);
  }
  page += rest;
  return page;
}

}  // namespace attn::draw
