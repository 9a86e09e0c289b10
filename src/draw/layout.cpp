// SPDX-License-Identifier: Apache-2.0
#include "draw/layout.hpp"

#include <algorithm>
#include <cmath>

#include "draw/ticks.hpp"

namespace attn::draw {
namespace {

// Distances in units, chosen by eye.
constexpr double kMargin = 14;    // around the figure
constexpr double kGap = 16;       // between panels
constexpr double kPad = 5;        // between a label and what it names
constexpr double kBarGap = 24;    // between the grid and the colour bar
constexpr double kBarWidth = 14;  // of the colour bar
constexpr double kShortestBar = 80, kLongestBar = 320;
constexpr double kTickLength = 4;      // of its ticks
constexpr double kLeastPanel = 48;     // a side that fewer cells are stretched to
constexpr double kGoodPanel = 320;     // a side that cells are chosen for, when labels allow
constexpr double kLargestCell = 40;    // of cells that are chosen
constexpr double kLeastLabel = 6;      // font size that labels shrink to
constexpr double kLongestLabel = 12;   // length at which labels are cut, in font sizes
constexpr double kLongestTitle = 160;  // length up to which a panel's place widens for its title
constexpr Rgb kQuiet{110, 110, 110};

class Layouter {
 public:
  Layouter(const FigureContent& content, const FigureOptions& options, const TextRenderer& renderer)
      : content_(content), options_(options), renderer_(renderer) {
    const auto count = static_cast<std::ptrdiff_t>(content.titles.size());
    const auto square = static_cast<std::ptrdiff_t>(std::ceil(std::sqrt(static_cast<double>(count))));
    across_ = std::min(count, options.columns > 0 ? options.columns : square);
    down_ = (count + across_ - 1) / across_;
    line_ = renderer.measure("Ag", {options.font_size}).height;
  }

  FigureLayout run() {
    choose_cells();
    choose_labels();
    place_panels();
    place_row_labels();
    place_column_labels();
    place_bar();
    place_titles();
    place_notes();
    return std::move(out_);
  }

 private:
  // The size of a set of labels: the longest, and the distance of lines that keeps them apart.
  struct Extent {
    double length = 0, pitch = 0;
  };

  double pixel() const { return 1 / options_.png_scale; }
  double snap(double x) const { return std::ceil(x / pixel() - 1e-6) * pixel(); }
  double panel_width() const { return out_.cell_width * static_cast<double>(content_.columns); }
  double panel_height() const { return out_.cell_height * static_cast<double>(content_.rows); }
  double grid_width() const { return static_cast<double>(across_) * (slot_width_ + kGap) - kGap; }

  Extent extent_of(const std::vector<std::string>& labels, double size) const {
    Extent extent{0, labels.empty() ? 0 : 1.15 * size};
    for (const std::string& label : labels) {
      const TextSize measured = renderer_.measure(label, {size});
      extent.length = std::max(extent.length, measured.width);
      extent.pitch = std::max(extent.pitch, measured.ink_height + 1);
    }
    extent.length = std::min(extent.length, kLongestLabel * size);
    return extent;
  }

  double row_title_width() const { return options_.row_title.empty() ? 0 : line_ + kPad; }
  // Widest text right of the colour bar.
  double tick_width() const {
    double width = content_.has_nan ? renderer_.measure("NaN", {options_.font_size}).width : 0;
    for (const Tick& tick : ticks_of(content_.range, 0.05)) {
      width = std::max(width, renderer_.measure(tick.text, {options_.font_size}).width);
    }
    return width;
  }
  double right_width() const {
    return kBarGap + kBarWidth + kTickLength + kPad + tick_width() + (options_.scale_title.empty() ? 0 : kPad + line_) +
           kMargin;
  }

  void choose_cells() {
    const Extent rows = extent_of(options_.row_labels, options_.font_size);
    const Extent columns = extent_of(options_.column_labels, options_.font_size);
    const auto r = static_cast<double>(content_.rows), c = static_cast<double>(content_.columns);
    double cell = options_.cell_size;
    if (cell == 0) {
      const double left = kMargin + row_title_width() + rows.length + kPad;
      const double room = options_.max_width - left - right_width() - static_cast<double>(across_ - 1) * kGap;
      const double labelled = std::max(rows.pitch, columns.pitch) + 1;
      const double good = std::clamp(kGoodPanel / std::max(r, c), std::min(labelled, kLargestCell), kLargestCell);
      cell = std::min(room / (c * static_cast<double>(across_)), good);
    }
    const auto whole = [this](double side) { return std::max(1.0, std::floor(side / pixel() + 1e-6)) * pixel(); };
    const double least = options_.cell_size == 0 ? kLeastPanel : 0;
    out_.cell_width = whole(std::max(cell, least / c));
    out_.cell_height = whole(std::max(cell, least / r));
  }

  // Labels shrink until each has its place, at most to kLeastLabel; then some are left out, and the rest grow again.
  void choose_labels() {
    const double size = options_.font_size;
    measure_labels(size);
    upward_ = columns_.length + kPad > out_.cell_width;
    measure_labels(std::max(std::min(kLeastLabel, size), std::min(1.0, room_for_labels()) * size));
    row_step_ = round_step(rows_.pitch / out_.cell_height * (1 - 1e-6));
    column_step_ = upward_ ? round_step(columns_.pitch / out_.cell_width * (1 - 1e-6)) : 1;
    measure_labels(std::min(size, std::max(1.0, room_for_labels()) * label_size_));
  }

  void measure_labels(double size) {
    label_size_ = size;
    rows_ = extent_of(options_.row_labels, size);
    columns_ = extent_of(options_.column_labels, size);
  }

  // How often the pitch of the labels fits between two that are drawn.
  double room_for_labels() const {
    double room = options_.font_size / label_size_;
    if (rows_.pitch > 0) room = std::min(room, static_cast<double>(row_step_) * out_.cell_height / rows_.pitch);
    if (upward_) room = std::min(room, static_cast<double>(column_step_) * out_.cell_width / columns_.pitch);
    return room;
  }

  void place_panels() {
    double title_width = 0, title_height = 0;
    for (const std::string& title : content_.titles) {
      if (title.empty()) continue;
      const TextSize measured = renderer_.measure(title, {options_.font_size});
      title_width = std::max(title_width, std::min(measured.width + 1, kLongestTitle));
      title_height = std::max(title_height, measured.height + 3);
    }
    slot_width_ = snap(std::max(panel_width(), title_width));
    const double heading = options_.title.empty() ? 0 : 1.4 * line_ + 10;
    left_ = snap(kMargin + row_title_width() + (rows_.length > 0 ? rows_.length + kPad : 0));
    top_ = snap(kMargin + heading + std::max(title_height, line_ / 2));
    const double pitch = snap(panel_height() + kGap + title_height);
    for (std::size_t i = 0; i < content_.titles.size(); ++i) {
      const auto n = static_cast<std::ptrdiff_t>(i);
      const Box panel{left_ + static_cast<double>(n % across_) * snap(slot_width_ + kGap),
                      top_ + static_cast<double>(n / across_) * pitch, panel_width(), panel_height()};
      out_.panels.push_back(panel);
      if (content_.titles[i].empty()) continue;
      out_.texts.push_back(
          {content_.titles[i], {panel.x, panel.y - title_height, slot_width_, title_height}, {options_.font_size}});
    }
    grid_bottom_ = top_ + static_cast<double>(down_ - 1) * pitch + panel_height();
    bottom_ = grid_bottom_;
  }

  void place_row_labels() {
    for (std::ptrdiff_t line = 0; line < down_ && !options_.row_labels.empty(); ++line) {
      const Box& panel = out_.panels[static_cast<std::size_t>(line * across_)];
      for (std::ptrdiff_t r = 0; r < content_.rows; r += row_step_) {
        const double middle = panel.y + (static_cast<double>(r) + 0.5) * out_.cell_height;
        out_.texts.push_back({options_.row_labels[static_cast<std::size_t>(r)],
                              {left_ - kPad - rows_.length, middle - rows_.pitch / 2, rows_.length, rows_.pitch},
                              {label_size_},
                              TextAlign::right});
      }
    }
  }

  void place_column_labels() {
    const auto count = static_cast<std::ptrdiff_t>(out_.panels.size());
    for (std::ptrdiff_t i = std::max<std::ptrdiff_t>(0, count - across_); i < count; ++i) {
      if (options_.column_labels.empty()) break;
      const Box& panel = out_.panels[static_cast<std::size_t>(i)];
      const double height = upward_ ? columns_.length : columns_.pitch + 2;
      for (std::ptrdiff_t c = 0; c < content_.columns; c += column_step_) {
        const double middle = panel.x + (static_cast<double>(c) + 0.5) * out_.cell_width;
        const double width = upward_ ? columns_.pitch : out_.cell_width;
        out_.texts.push_back({options_.column_labels[static_cast<std::size_t>(c)],
                              {middle - width / 2, panel.bottom() + kPad, width, height},
                              {label_size_},
                              upward_ ? TextAlign::right : TextAlign::centre,
                              upward_});
      }
      bottom_ = std::max(bottom_, panel.bottom() + kPad + height);
    }
    if (options_.column_title.empty()) return;
    out_.texts.push_back(
        {options_.column_title, {left_, bottom_ + kPad, grid_width(), line_}, {options_.font_size}, TextAlign::centre});
    bottom_ += kPad + line_;
  }

  void place_bar() {
    const double title = std::min(renderer_.measure(options_.scale_title, {options_.font_size}).width + 1, kLongestBar);
    const double height = snap(std::clamp(grid_bottom_ - top_, std::max(kShortestBar, title), kLongestBar));
    out_.bar = {snap(left_ + grid_width() + kBarGap), top_, kBarWidth, height};
    const double width = tick_width();
    const double text_x = out_.bar.right() + kTickLength + kPad;
    for (const Tick& tick : ticks_of(content_.range, 1.3 * line_ / height)) {
      const double y = out_.bar.bottom() - tick.place * height;
      out_.ticks.push_back({out_.bar.right(), y, kTickLength, 0});
      out_.texts.push_back({tick.text, {text_x, y - line_ / 2, width + 1, line_}, {options_.font_size}});
    }
    double below = out_.bar.bottom() + line_ / 2;
    if (content_.has_nan) {
      out_.nan_swatch = Box{out_.bar.x, snap(below + kPad), kBarWidth, kBarWidth};
      const double y = out_.nan_swatch->y + kBarWidth / 2 - line_ / 2;
      out_.texts.push_back({"NaN", {text_x, y, width + 1, line_}, {options_.font_size}});
      below = out_.nan_swatch->bottom();
    }
    bottom_ = std::max(bottom_, below);
    double right = text_x + width + 1;
    if (!options_.scale_title.empty()) {
      const Box box{right + kPad, out_.bar.y, line_, height};
      out_.texts.push_back({options_.scale_title, box, {options_.font_size}, TextAlign::centre, true});
      right = box.right();
    }
    out_.width = right + kMargin;
  }

  void place_titles() {
    const double size = options_.font_size;
    if (!options_.row_title.empty()) {
      out_.texts.push_back(
          {options_.row_title, {kMargin, top_, line_, grid_bottom_ - top_}, {size}, TextAlign::centre, true});
    }
    if (!options_.title.empty()) {
      const TextStyle style{1.2 * size, true};
      widen(std::min(renderer_.measure(options_.title, style).width + 1, options_.max_width));
      out_.texts.push_back({options_.title, {kMargin, kMargin, out_.width - 2 * kMargin, 1.4 * line_}, style});
    }
  }

  void place_notes() {
    const auto every = [](std::ptrdiff_t step) { return std::to_string(step) + (step == 2 ? "nd " : "th "); };
    if (row_step_ > 1 && row_step_ == column_step_) {
      out_.notes.push_back("Every " + every(row_step_) + "row and column is labelled.");
    } else {
      if (row_step_ > 1) out_.notes.push_back("Every " + every(row_step_) + "row is labelled.");
      if (column_step_ > 1) out_.notes.push_back("Every " + every(column_step_) + "column is labelled.");
    }
    for (const std::string& note : out_.notes) {
      const double width = renderer_.measure(note, {options_.font_size}).width + 1;
      widen(width);
      out_.texts.push_back(
          {note, {kMargin, bottom_ + kPad, width, line_}, {options_.font_size}, TextAlign::left, false, kQuiet});
      bottom_ += kPad + line_;
    }
    out_.width = snap(out_.width);
    out_.height = snap(bottom_ + kMargin);
  }

  void widen(double text) { out_.width = std::max(out_.width, text + 2 * kMargin); }

  const FigureContent& content_;
  const FigureOptions& options_;
  const TextRenderer& renderer_;
  FigureLayout out_;
  std::ptrdiff_t across_ = 1, down_ = 1;  // panels
  double line_ = 0;                       // height of a line of text
  double label_size_ = 0;
  Extent rows_, columns_;
  bool upward_ = false;  // column labels
  std::ptrdiff_t row_step_ = 1, column_step_ = 1;
  double left_ = 0, top_ = 0, slot_width_ = 0;  // of the grid
  double grid_bottom_ = 0, bottom_ = 0;         // of the panels, and of what is placed so far
};

}  // namespace

FigureLayout lay_out(const FigureContent& content, const FigureOptions& options, const TextRenderer& renderer) {
  return Layouter(content, options, renderer).run();
}

}  // namespace attn::draw
