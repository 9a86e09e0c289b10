// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace attn::draw {

// JSON that can stand inside an HTML script element: pure ASCII, in which <, > and & are written as \u escapes, so that
// neither </script> nor <!-- can occur. Invalid UTF-8 becomes U+FFFD.
std::string json_for_script(const nlohmann::json& value);

// Text that can stand inside an HTML element: markup is escaped, control characters become spaces, invalid UTF-8
// U+FFFD.
std::string html_text(std::string_view text);

}  // namespace attn::draw
