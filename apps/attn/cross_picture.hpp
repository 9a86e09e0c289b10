// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/train/task.hpp>
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

// cross-1.png, cross-1.svg and so on in `folder`, which is made if absent. The names of the PNGs.
std::vector<std::filesystem::path> write_pictures(const std::filesystem::path& folder,
                                                  const std::vector<CrossPicture>& pictures);

}  // namespace attn::app
