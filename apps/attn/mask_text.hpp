// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace attn::app {

// Tokens that a query sees on each side of its own; Mask::unbounded opens a side.
struct Window {
  std::int64_t left = 0, right = 0;
};

// The window that "LEFT,RIGHT" means to --window: numbers of tokens, or inf. Throws Error naming the option.
Window parse_window(const std::string& text);

}  // namespace attn::app
