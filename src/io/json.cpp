// SPDX-License-Identifier: Apache-2.0
#include "io/json.hpp"

#include <attn/error.hpp>
#include <set>
#include <vector>

#include "base/concat.hpp"

namespace attn::io {
namespace {

using nlohmann::json;

constexpr int kMaxDepth = 100;
constexpr std::size_t kMaxShown = 120;  // bytes of a name in a message

[[noreturn]] void refuse(std::string_view where, std::string_view part, std::string_view text, std::size_t at) {
  const std::string found =
      at < text.size() ? base::concat("where ", quote(text.substr(at, 1)), " stands") : "where it ends";
  throw Error(where, part, base::concat("not valid JSON at byte ", at, ", ", found));
}

}  // namespace

json parse_json(std::string_view where, std::string_view part, std::string_view text) {
  // The library takes a NUL for the end of the text.
  if (const std::size_t at = text.find('\0'); at != std::string_view::npos) {
    refuse(where, part, text, at);
  }
  std::vector<std::set<std::string>> keys;  // of every object that is open
  const auto check = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth > kMaxDepth) throw Error(where, part, base::concat("JSON nested deeper than ", kMaxDepth));
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second) {
      throw Error(where, part, base::concat("the name ", text_of(parsed), " occurs twice"));
    }
    return true;
  };
  try {
    return json::parse(text, check);
  } catch (const json::parse_error& e) {
    refuse(where, part, text, e.byte == 0 ? 0 : e.byte - 1);
  } catch (const json::out_of_range&) {
    throw Error(where, part, "holds a number beyond the range of a double");
  }
}

std::string quote(std::string_view text) {
  const bool is_long = text.size() > kMaxShown;
  const json cut = std::string(text.substr(0, kMaxShown));
  return cut.dump(-1, ' ', false, json::error_handler_t::replace) + (is_long ? "..." : "");
}

std::string text_of(const json& value) {
  if (value.is_string()) return quote(std::string_view(value.get_ref<const std::string&>()));
  const std::string text = value.dump(-1, ' ', true);
  return text.size() > kMaxShown ? text.substr(0, kMaxShown) + "..." : text;
}

}  // namespace attn::io
