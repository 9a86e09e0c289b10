// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/utf8.hpp"

namespace attn::io {

// A character of a text that is being normalised, with the bytes of the original text that it stands for.
struct Character {
  char32_t code;
  std::uint32_t begin, end;
};

using Characters = std::vector<Character>;

// The characters of a text of less than 4 GiB. Ill-formed bytes become U+FFFD and set `replaced`.
inline Characters to_characters(std::string_view text, bool& replaced) {
  Characters characters;
  characters.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Decoded next = decode_utf8(text, at);
    replaced |= !next.valid;
    characters.push_back({next.code, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + next.bytes)});
    at += next.bytes;
  }
  return characters;
}

}  // namespace attn::io
