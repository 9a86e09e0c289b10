// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace attn::app {

// "a, b, c". In place of fmt::join, at which g++ 12 warns of an overflow in fmt's own headers that is not there.
template <class Items>
std::string joined(const Items& items, std::string_view separator) {
  std::string text;
  bool is_first = true;
  for (const auto& item : items) {
    if (!is_first) text += separator;
    text += fmt::format("{}", item);
    is_first = false;
  }
  return text;
}

}  // namespace attn::app
