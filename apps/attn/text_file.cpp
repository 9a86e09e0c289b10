// SPDX-License-Identifier: Apache-2.0
#include "text_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <attn/error.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>

namespace attn::app {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& file, std::string_view action) {
  throw Error(file.string(), "", fmt::format("cannot be {}: {}", action, std::strerror(errno)));
}

}  // namespace

std::string read_text(const fs::path& file, std::size_t most) {
  std::error_code ignored;  // opening the file fails of the same, and says why
  const fs::file_type type = fs::status(file, ignored).type();
  const auto too_large = [&] {
    throw Error(file.string(), "", fmt::format("larger than the {} bytes it may have", most));
  };
  if (type == fs::file_type::directory) throw Error(file.string(), "", "a folder, expected a text file");
  if (type == fs::file_type::character || type == fs::file_type::block) {
    throw Error(file.string(), "", "a device, expected a text file");
  }
  if (type == fs::file_type::regular && fs::file_size(file, ignored) > most) too_large();
  std::ifstream input(file, std::ios::binary);
  if (!input) fail(file, "opened");
  std::string text;
  std::array<char, 65536> block;
  while (input.read(block.data(), block.size()) || input.gcount() > 0) {
    text.append(block.data(), static_cast<std::size_t>(input.gcount()));
    if (text.size() > most) too_large();
  }
  if (input.bad()) fail(file, "read");
  return text;
}

std::vector<std::string> read_lines(const fs::path& file) {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  const std::string text = read_text(file, kMost);
  std::vector<std::string> lines;
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  std::string_view rest = text;
  if (rest.substr(0, kByteOrderMark.size()) == kByteOrderMark) rest.remove_prefix(kByteOrderMark.size());
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    lines.emplace_back(line.substr(0, line.size() - (line.empty() || line.back() != '\r' ? 0 : 1)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return lines;
}

}  // namespace attn::app
