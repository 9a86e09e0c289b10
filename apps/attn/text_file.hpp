// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace attn::app {

// The bytes of a file or pipe. Throws Error naming it when it cannot be read, is a folder or a device (which may never
// end), or holds more than `most` bytes.
std::string read_text(const std::filesystem::path& file, std::size_t most);

// The lines of a text file, without their ends (LF or CRLF) and without a byte order mark. A line that is empty counts;
// nothing after the last line end does not. Throws Error as read_text does, for more than 1 GiB.
std::vector<std::string> read_lines(const std::filesystem::path& file);

}  // namespace attn::app
