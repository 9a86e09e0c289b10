// SPDX-License-Identifier: Apache-2.0
#include "example_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <attn/draw/display_width.hpp>
#include <attn/error.hpp>
#include <attn/io/config.hpp>
#include <iterator>
#include <nlohmann/json.hpp>

#include "joined.hpp"
#include "text_file.hpp"

namespace attn::app {
namespace {

using Json = nlohmann::json;

constexpr const char* kKeys[] = {"x",     "w_q",    "w_k",   "w_v",     "q",    "k",    "v",      "causal",
                                 "align", "window", "scale", "softcap", "mask", "bias", "tokens", "note"};

// Text out of the file in a message: safe to print, and short.
std::string shown(std::string_view text) { return draw::elide(text, 60); }

constexpr std::size_t kMostBytes = std::size_t{1} << 24;
// One JSON file, and errors that name it.
class Reader {
 public:
  explicit Reader(const std::filesystem::path& file) : name_(file.string()) {
    const std::string text = read_text(file, kMostBytes);
    io::Config::parse(text, name_);  // refuses what is no JSON object, by name
    json_ = Json::parse(text);
    for (const auto& [key, value] : json_.items()) {
      if (std::find(std::begin(kKeys), std::end(kKeys), key) == std::end(kKeys)) {
        refuse(key, "an unknown key, expected " + joined(kKeys, ", "));
      }
    }
  }

  bool has(const std::string& key) const { return json_.contains(key); }

  // A list of rows of equal length; [] where the key is absent.
  Tensor matrix(const std::string& key) const {
    if (!has(key)) return {};
    const Json& rows = json_[key];
    const bool is_matrix = rows.is_array() && !rows.empty() && rows[0].is_array() && !rows[0].empty();
    if (!is_matrix) refuse_value(key, "a list of rows of numbers");
    Tensor t = Tensor::empty(DType::f64, rows.size(), rows[0].size());
    const View<double, 2> to = t.view<double, 2>();
    for (std::size_t r = 0; r < rows.size(); ++r) {
      if (!rows[r].is_array() || rows[r].size() != rows[0].size()) {
        refuse(key, fmt::format("row {} is {}, expected {} numbers as in the first", r, shown(rows[r].dump()),
                                rows[0].size()));
      }
      for (std::size_t c = 0; c < rows[r].size(); ++c) to(r, c) = element(key, rows[r][c]);
    }
    return t;
  }

  bool flag(const std::string& key) const {
    if (!has(key)) return false;
    if (!json_[key].is_boolean()) refuse_value(key, "true or false");
    return json_[key].get<bool>();
  }
  std::optional<double> number(const std::string& key) const {
    if (!has(key)) return {};
    if (!json_[key].is_number()) refuse_value(key, "a number");
    return json_[key].get<double>();
  }
  std::string text(const std::string& key) const {
    if (!has(key)) return {};
    if (!json_[key].is_string()) refuse_value(key, "a text");
    return json_[key].get<std::string>();
  }
  std::vector<std::string> texts(const std::string& key) const {
    std::vector<std::string> all;
    if (!has(key)) return all;
    if (!json_[key].is_array()) refuse_value(key, "a list of texts");
    for (const Json& item : json_[key]) {
      if (!item.is_string()) refuse_value(key, "a list of texts");
      all.push_back(item.get<std::string>());
    }
    return all;
  }
  std::optional<std::pair<std::int64_t, std::int64_t>> window(const std::string& key) const {
    if (!has(key)) return {};
    const Json& sides = json_[key];
    const auto is_side = [](const Json& side) { return side.is_null() || (side.is_number_integer() && side >= 0); };
    if (!sides.is_array() || sides.size() != 2 || !is_side(sides[0]) || !is_side(sides[1])) {
      refuse_value(key, "[left, right], numbers of tokens or null for no end");
    }
    const auto side = [](const Json& s) { return s.is_null() ? Mask::unbounded : s.get<std::int64_t>(); };
    return std::pair{side(sides[0]), side(sides[1])};
  }

  [[noreturn]] void refuse_value(const std::string& key, const std::string& expected) const {
    refuse(key, fmt::format("{}, expected {}", shown(json_[key].dump()), expected));
  }
  [[noreturn]] void refuse(const std::string& key, const std::string& why) const {
    throw Error(name_, fmt::format("\"{}\"", shown(key)), why);
  }

 private:
  // "-inf" is how a bias hides a pair; JSON has no number for it.
  double element(const std::string& key, const Json& value) const {
    if (value == "-inf") return -std::numeric_limits<double>::infinity();
    if (!value.is_number()) refuse(key, fmt::format("{}, expected a number", shown(value.dump())));
    return value.get<double>();
  }

  std::string name_;
  Json json_;
};

// A matrix of 0 and 1 as a boolean one.
Tensor to_boolean(const Tensor& matrix) {
  Tensor result = Tensor::empty(DType::boolean, matrix.shape());
  const auto from = matrix.values<double>();
  const auto to = result.values<bool>();
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i] != 0;
  return result;
}

In<4> as_pairs(const Tensor& matrix) {
  return In<4>(matrix.dtype(), matrix.data(), {1, 1, matrix.extent(0), matrix.extent(1)}, {0, 0, matrix.extent(1), 1});
}

Align align_of(const Reader& reader) {
  const std::string align = reader.text("align");
  if (align == "top_left") return Align::top_left();
  if (align == "bottom_right") return Align::bottom_right();
  if (reader.has("align")) reader.refuse_value("align", "\"top_left\" or \"bottom_right\"");
  return {};
}

}  // namespace

ExampleFile read_example(const std::filesystem::path& file) {
  const Reader reader(file);
  ExampleFile result;
  result.example = {.x = reader.matrix("x"),
                    .w_q = reader.matrix("w_q"),
                    .w_k = reader.matrix("w_k"),
                    .w_v = reader.matrix("w_v"),
                    .q = reader.matrix("q"),
                    .k = reader.matrix("k"),
                    .v = reader.matrix("v"),
                    .tokens = reader.texts("tokens"),
                    .note = reader.text("note")};
  AttentionOptions& options = result.options;
  options.align = align_of(reader);
  options.scale = reader.number("scale");
  options.softcap = reader.number("softcap");
  if (reader.flag("causal")) options.mask = Mask::causal();
  if (const auto window = reader.window("window")) {
    options.mask = options.mask & Mask::window(window->first, window->second);
  }
  if (reader.has("mask")) {
    result.mask = to_boolean(reader.matrix("mask"));
    options.mask = options.mask & Mask::keep(as_pairs(result.mask));
  }
  if (reader.has("bias")) {
    result.bias = reader.matrix("bias");
    options.bias = as_pairs(result.bias);
  }
  const Tensor &q = result.example.q, &k = result.example.k;
  const bool is_placed = reader.flag("causal") || reader.has("window");
  if (is_placed && !reader.has("align") && q.has_value() && k.has_value() && q.extent(0) != k.extent(0)) {
    reader.refuse("align",
                  fmt::format("not given, expected \"top_left\" or \"bottom_right\" for {} queries and {} keys",
                              q.extent(0), k.extent(0)));
  }
  return result;
}

}  // namespace attn::app
