// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace attn::io {

constexpr char32_t kReplacement = 0xFFFD;

struct Decoded {
  char32_t code;
  std::size_t bytes;  // how many it took, 1 to 4
  bool valid;         // false: the bytes are a maximal part of an ill-formed sequence, and code is U+FFFD
};

// The character that begins at `text[at]`. Ill-formed input gives one U+FFFD for each maximal subpart (The Unicode
// Standard, section 3.9, "U+FFFD Substitution of Maximal Subparts"), as browsers and Python do.
Decoded decode_utf8(std::string_view text, std::size_t at) noexcept;

// Appends the UTF-8 form of a scalar value.
void append_utf8(char32_t code, std::string& text);

}  // namespace attn::io
