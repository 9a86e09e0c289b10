// SPDX-License-Identifier: Apache-2.0
#include "mask_text.hpp"

#include <fmt/format.h>

#include <attn/error.hpp>
#include <attn/mask.hpp>
#include <charconv>
#include <string_view>

namespace attn::app {
namespace {

[[noreturn]] void refuse_window(const std::string& text) {
  throw Error("--window", "", fmt::format("\"{}\", expected LEFT,RIGHT: numbers of tokens from 0 on, or inf", text));
}

// One side of the window `text`.
std::int64_t window_side(const std::string& text, std::string_view side) {
  if (side == "inf") return Mask::unbounded;
  std::int64_t tokens = -1;
  const auto [end, failure] = std::from_chars(side.data(), side.data() + side.size(), tokens);
  if (failure != std::errc() || end != side.data() + side.size() || tokens < 0) refuse_window(text);
  return tokens;
}

}  // namespace

Window parse_window(const std::string& text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) refuse_window(text);
  const std::string_view sides = text;
  return {.left = window_side(text, sides.substr(0, comma)), .right = window_side(text, sides.substr(comma + 1))};
}

}  // namespace attn::app
