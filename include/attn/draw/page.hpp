// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/any_view.hpp>
#include <attn/draw/colormap.hpp>
#include <attn/draw/value_range.hpp>
#include <attn/export.hpp>
#include <attn/tensor.hpp>
#include <attn/version.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace attn::draw {

// The most values a page may hold. Each takes 2.7 bytes of the file: 12 x 12 panels of 256 x 256 make 25 MB,
// this limit 171 MB, which is about what a browser still opens.
inline constexpr std::ptrdiff_t kMaxPageValues = 64'000'000;

inline namespace ATTN_ABI {

// One panel: a matrix (rows, columns) of f32, f64, bf16 or f16, and its name, as in "3".
struct PageItem {
  std::string name = {};
  In<2> values = {};
};

// Panels that stand beside each other in the overview, and their common name.
struct PageGroup {
  std::string name = {};
  std::vector<PageItem> items = {};
};

// What a page shows. All text is UTF-8; what is invalid is replaced by U+FFFD, and nothing in it is read as markup.
struct PageInput {
  std::string title = {};
  std::string subtitle = {};
  // One label for each row and column of every panel.
  std::vector<std::string> row_labels = {};
  std::vector<std::string> column_labels = {};
  std::vector<PageGroup> groups = {};
};

// What the page calls things. In the two sentences `{}` stands for a label.
struct PageWords {
  std::string row = "row", rows = "rows";
  std::string column = "column", columns = "columns";
  std::string group = "group";
  std::string item = "panel";
  std::string value = "value";
  std::string row_shows = "the row of {}";        // as in "where {} looks"
  std::string column_shows = "the column of {}";  // as in "who looks at {}"
};

struct PageOptions {
  PageWords words = {};
  // The colours at first; the reader can choose another map.
  Colormap colormap = Colormap::blues();
  // The ends of the one colour scale of all panels. By default from 0, or the smallest value if it is negative, to the
  // largest value; up to 1 when all are 0.
  std::optional<ValueRange> range = {};
};
}  // namespace ATTN_ABI

// An interactive HTML page as the bytes of one file that needs nothing else, neither network nor other files: an
// overview of all panels under one colour scale; one panel enlarged, with its labels and the value under the pointer;
// strips of labels that show the row or column pointed at; and lines between row and column labels.
//
// Values are stored as 16 bits: steps of range / 65532, where the range goes from the smallest value or 0 to the
// largest or 0. What the page shows is off by at most half a step, which is below 8e-6 for values in [0, 1]. NaN and
// infinities are kept.
//
// Throws Error for no panels, no labels, more values than kMaxPageValues, a panel whose dtype is no floating type or
// whose extents differ from the numbers of labels, and for a range without finite ends or with min >= max. Time and
// memory are proportional to the values.
ATTN_API std::string make_page(const PageInput& input, const PageOptions& options = {});

}  // namespace attn::draw
