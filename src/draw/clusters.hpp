// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attn::draw {

// What a reader takes for one character: a base with its marks.
struct Cluster {
  std::string text;
  std::ptrdiff_t width = 0;  // columns of a terminal
};

// The clusters of `text`, made safe to print as <attn/draw/display_width.hpp> says.
std::vector<Cluster> clusters_of(std::string_view text);

// Columns that all of them take.
std::ptrdiff_t width_of(const std::vector<Cluster>& clusters);

// At most `width` columns of them: some of the beginning, `mark` (of one column), some of the end.
std::vector<Cluster> elided(std::vector<Cluster> clusters, std::ptrdiff_t width, std::string_view mark);

}  // namespace attn::draw
