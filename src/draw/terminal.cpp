// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/draw/display_width.hpp>
#include <attn/draw/terminal.hpp>
#include <attn/error.hpp>
#include <cmath>
#include <utility>

#include "base/concat.hpp"
#include "draw/ansi.hpp"
#include "draw/clusters.hpp"
#include "draw/matrix.hpp"

namespace attn::draw {
namespace {

constexpr std::string_view kTerminalHeatMap = "terminal_heat_map";
constexpr std::ptrdiff_t kLeastWidth = 40;
constexpr std::ptrdiff_t kLeastCell = 2;      // columns; about square, as a column is half as wide as high
constexpr std::ptrdiff_t kWidestCell = 9;     // that cells grow to for a label above them
constexpr std::ptrdiff_t kTallestLabel = 12;  // lines of a label that is written downwards
constexpr std::ptrdiff_t kLegendCells = 16;   // columns of the scale
constexpr const char* kShades[] = {" ", "░", "▒", "▓", "█"};
constexpr const char* kNanShade = "?";

std::string repeat(std::string_view text, std::ptrdiff_t times) {
  std::string result;
  for (std::ptrdiff_t i = 0; i < times; ++i) result += text;
  return result;
}

std::string spaces(std::ptrdiff_t count) { return repeat(" ", count); }

// Lines end where their last visible character does.
std::string line_of(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text + '\n';
}

class HeatMap {
 public:
  HeatMap(const View<const float, 2>& values, const TerminalOptions& options, const ValueRange& range)
      : values_(values), options_(options), range_(range) {
    for (const std::string& label : options.row_labels) {
      label_width_ = std::max(label_width_, display_width(label));
    }
    label_width_ = std::min(label_width_, options.max_width / 3);
    indent_ = label_width_ > 0 ? label_width_ + 1 : 0;
    for (const std::string& label : options.column_labels) columns_.push_back(clusters_of(label));
    choose_cells();
  }

  std::string text() const {
    std::string text;
    if (!options_.title.empty()) text += line_of(elide(options_.title, options_.max_width));
    text += header();
    for (std::ptrdiff_t r = 0; r < values_.extent(0); ++r) text += row(r);
    text += legend();
    if (shown_ < values_.extent(1)) {
      text += base::concat("Columns 1 to ", shown_, " of ", values_.extent(1), " fit.\n");
    }
    return text;
  }

 private:
  // Cells as wide as the longest label if all then fit, else narrow ones with labels written downwards.
  void choose_cells() {
    std::ptrdiff_t longest = 0;
    for (const auto& label : columns_) longest = std::max(longest, width_of(label));
    const std::ptrdiff_t room = options_.max_width - indent_, wanted = std::max(longest + 1, kLeastCell);
    sideways_ = wanted <= kWidestCell && wanted * values_.extent(1) <= room;
    cell_ = sideways_ ? wanted : kLeastCell;
    shown_ = std::min(values_.extent(1), room / cell_);
  }

  std::string header() const {
    if (columns_.empty()) return {};
    if (sideways_) {
      std::string line = spaces(indent_);
      for (const auto& label : columns_) {
        const std::ptrdiff_t free = cell_ - width_of(label);
        line += spaces(free / 2);
        for (const Cluster& cluster : label) line += cluster.text;
        line += spaces(free - free / 2);
      }
      return line_of(line);
    }
    return header_downwards();
  }

  std::string header_downwards() const {
    std::vector<std::vector<Cluster>> labels;
    std::size_t height = 0;
    for (std::ptrdiff_t c = 0; c < shown_; ++c) {
      // One line for each cluster, whatever its width.
      std::vector<Cluster> lines = columns_[static_cast<std::size_t>(c)];
      for (Cluster& cluster : lines) cluster.width = 1;
      labels.push_back(elided(std::move(lines), kTallestLabel, "⋮"));
      height = std::max(height, labels.back().size());
    }
    std::string text;
    for (std::size_t y = 0; y < height; ++y) {
      std::string line = spaces(indent_);
      for (const auto& label : labels) {
        const std::size_t above = height - label.size();
        const std::string glyph = y < above ? "" : label[y - above].text;
        line += glyph + spaces(kLeastCell - display_width(glyph));
      }
      text += line_of(line);
    }
    return text;
  }

  std::string row(std::ptrdiff_t r) const {
    std::string line;
    if (indent_ > 0) {
      const std::string label = elide(options_.row_labels[static_cast<std::size_t>(r)], label_width_);
      line = spaces(label_width_ - display_width(label)) + label + ' ';
    }
    for (std::ptrdiff_t c = 0; c < shown_; ++c) line += block(place_on(range_, double{values_(r, c)}), cell_);
    return close(line);
  }

  // `width` columns in the colour of a place on the scale.
  std::string block(double place, std::ptrdiff_t width) const {
    switch (options_.colours) {
      case TerminalColours::none:
        return repeat(std::isnan(place) ? kNanShade : kShades[std::lround(place * 4)], width);
      case TerminalColours::palette:
        return palette_background(options_.colormap.rgb(place)) + spaces(width);
      case TerminalColours::full:
        return full_background(options_.colormap.rgb(place)) + spaces(width);
    }
    return {};
  }

  std::string close(const std::string& line) const {
    return options_.colours == TerminalColours::none ? line_of(line) : line + kResetColours + '\n';
  }

  std::string legend() const {
    const bool plain = options_.colours == TerminalColours::none;
    const std::string reset = plain ? "" : kResetColours;
    std::string line = number_text(range_.min, 3) + ' ';
    for (std::ptrdiff_t i = 0; i < kLegendCells; ++i) {
      line += block(static_cast<double>(i) / static_cast<double>(kLegendCells - 1), 1);
    }
    line += reset + ' ' + number_text(range_.max, 3);
    if (has_nan()) line += "  " + block(std::nan(""), kLeastCell) + reset + " NaN";
    return line_of(line);
  }

  bool has_nan() const {
    for (std::ptrdiff_t r = 0; r < values_.extent(0); ++r) {
      for (std::ptrdiff_t c = 0; c < shown_; ++c) {
        if (std::isnan(values_(r, c))) return true;
      }
    }
    return false;
  }

  const View<const float, 2> values_;
  const TerminalOptions& options_;
  const ValueRange range_;
  std::vector<std::vector<Cluster>> columns_;    // labels
  std::ptrdiff_t label_width_ = 0, indent_ = 0;  // of row labels, and with the space after them
  std::ptrdiff_t cell_ = kLeastCell, shown_ = 0;
  bool sideways_ = false;  // column labels
};

void check_labels(const char* option, const std::vector<std::string>& labels, std::ptrdiff_t count) {
  if (labels.empty() || labels.size() == static_cast<std::size_t>(count)) return;
  throw Error(kTerminalHeatMap, option,
              base::concat("found ", labels.size(), ", expected ", count, " as in the matrix"));
}

}  // namespace

std::string terminal_heat_map(const In<2>& values, const TerminalOptions& options) {
  const View<const float, 2> matrix = checked_picture(kTerminalHeatMap, "values", values);
  check_labels("row_labels", options.row_labels, matrix.extent(0));
  check_labels("column_labels", options.column_labels, matrix.extent(1));
  if (options.max_width < kLeastWidth) {
    throw Error(kTerminalHeatMap, "max_width",
                base::concat("found ", options.max_width, ", expected ", kLeastWidth, " or more"));
  }
  if (options.range) check_range(kTerminalHeatMap, *options.range);
  return HeatMap(matrix, options, options.range ? *options.range : value_range_of({&values, 1})).text();
}

}  // namespace attn::draw
