// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace attn::io {

// Parses one JSON value that fills `text`. Stricter than the library alone: a key that occurs twice in an object,
// nesting deeper than 100, and a NUL byte are errors. Throws Error(where, part, ...) with the position.
nlohmann::json parse_json(std::string_view where, std::string_view part, std::string_view text);

// A name or a value as it can stand in a message: quoted, control characters escaped, cut when long.
std::string quote(std::string_view text);
std::string text_of(const nlohmann::json& value);

}  // namespace attn::io
