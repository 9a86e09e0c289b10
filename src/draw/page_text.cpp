// SPDX-License-Identifier: Apache-2.0
#include "draw/page_text.hpp"

#include <nlohmann/json.hpp>

namespace attn::draw {
namespace {

// ASCII, with everything else as \u escapes.
std::string ascii_json(const nlohmann::json& value) {
  return value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace

// In JSON these characters can occur inside strings only, where an escape means the same.
std::string json_for_script(const nlohmann::json& value) {
  std::string text;
  for (const char c : ascii_json(value)) {
    switch (c) {
      case '<':
        text += "\\u003c";
        break;
      case '>':
        text += "\\u003e";
        break;
      case '&':
        text += "\\u0026";
        break;
      default:
        text += c;
    }
  }
  return text;
}

std::string html_text(std::string_view text) {
  const std::string valid = nlohmann::json::parse(ascii_json(text)).get<std::string>();
  std::string html;
  for (const char c : valid) {
    switch (c) {
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '&':
        html += "&amp;";
        break;
      case '"':
        html += "&quot;";
        break;
      default:
        html += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
  }
  return html;
}

}  // namespace attn::draw
