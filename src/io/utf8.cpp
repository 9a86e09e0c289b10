// SPDX-License-Identifier: Apache-2.0
#include "io/utf8.hpp"

#include <cstdint>

namespace attn::io {
namespace {

struct Lead {
  int followers;            // -1: no sequence begins with this byte
  std::uint8_t first_low;   // the range of the second byte, which shuts out overlong forms, surrogates
  std::uint8_t first_high;  // and what lies beyond U+10FFFF (Table 3-7 of the standard)
  std::uint8_t bits;
};

constexpr Lead lead_of(std::uint8_t byte) {
  if (byte < 0x80) return {0, 0, 0, byte};
  if (byte < 0xC2) return {-1, 0, 0, 0};
  if (byte < 0xE0) return {1, 0x80, 0xBF, static_cast<std::uint8_t>(byte & 0x1F)};
  if (byte < 0xF0) {
    const std::uint8_t low = byte == 0xE0 ? 0xA0 : 0x80, high = byte == 0xED ? 0x9F : 0xBF;
    return {2, low, high, static_cast<std::uint8_t>(byte & 0x0F)};
  }
  if (byte < 0xF5) {
    const std::uint8_t low = byte == 0xF0 ? 0x90 : 0x80, high = byte == 0xF4 ? 0x8F : 0xBF;
    return {3, low, high, static_cast<std::uint8_t>(byte & 0x07)};
  }
  return {-1, 0, 0, 0};
}

}  // namespace

Decoded decode_utf8(std::string_view text, std::size_t at) noexcept {
  const Lead lead = lead_of(static_cast<std::uint8_t>(text[at]));
  if (lead.followers < 0) return {kReplacement, 1, false};
  char32_t code = lead.bits;
  std::size_t bytes = 1;
  for (int i = 0; i < lead.followers; ++i) {
    if (at + bytes == text.size()) return {kReplacement, bytes, false};
    const auto byte = static_cast<std::uint8_t>(text[at + bytes]);
    const std::uint8_t low = i == 0 ? lead.first_low : 0x80, high = i == 0 ? lead.first_high : 0xBF;
    if (byte < low || byte > high) return {kReplacement, bytes, false};
    code = code << 6 | (byte & 0x3F);
    ++bytes;
  }
  return {code, bytes, true};
}

void append_utf8(char32_t code, std::string& text) {
  const auto put = [&text](char32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6), put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12), put(0x80 | (code >> 6 & 0x3F)), put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18), put(0x80 | (code >> 12 & 0x3F)), put(0x80 | (code >> 6 & 0x3F)), put(0x80 | (code & 0x3F));
  }
}

}  // namespace attn::io
