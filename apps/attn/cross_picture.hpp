// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/train/task.hpp>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace attn::app {

// Where the heads of a decoder looked in a text while they translated it: one heat map a head, in one picture.
struct CrossPicture {
  std::string output;    // the translation
  std::string png, svg;  // bytes
};
CrossPicture draw_cross_attention(const std::string& input, const train::CrossAttention& seen);

// cross-1.png and so on in `folder`; beside each there is an SVG.
std::vector<std::filesystem::path> picture_files(const std::filesystem::path& folder, std::size_t count);

}  // namespace attn::app
