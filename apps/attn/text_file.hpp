// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace attn::app {

// The lines of a text file, without their ends (LF or CRLF) and without a byte order mark. A line that is empty counts;
// nothing after the last line end does not. Throws Error when the file cannot be read.
std::vector<std::string> read_lines(const std::filesystem::path& file);

}  // namespace attn::app
