// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

namespace attn::io {

// Memory and what keeps it alive.
struct SharedBytes {
  std::span<std::byte> bytes;
  std::shared_ptr<void> owner;
};

// A whole file in memory, read from the disk page by page as it is touched. The mapping is private: whoever writes to
// it changes a copy, never the file. Throws Error when the file is absent, cannot be read, or is no regular file.
SharedBytes map_file(const std::filesystem::path& path);

// The same bytes as text.
inline std::string_view as_text(const SharedBytes& file) noexcept {
  return {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()};
}

}  // namespace attn::io
