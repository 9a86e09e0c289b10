// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sstream>
#include <string>

namespace attn::base {

// Text of its arguments, for messages: the core has no formatting library.
template <class... T>
std::string concat(const T&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

// "(2, 8, 128, 64)"
template <class Shape>
std::string shape_text(const Shape& shape) {
  std::ostringstream text;
  text << '(';
  const char* separator = "";
  for (const auto n : shape) {
    text << separator << n;
    separator = ", ";
  }
  text << ')';
  return text.str();
}

}  // namespace attn::base
