// SPDX-License-Identifier: Apache-2.0
#include "text_file.hpp"

#include <attn/error.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace attn::app {

std::vector<std::string> read_lines(const std::filesystem::path& file) {
  if (std::filesystem::is_directory(file)) throw Error(file.string(), "", "a folder, expected a text file");
  std::ifstream input(file, std::ios::binary);
  if (!input) throw Error(file.string(), "", std::string("cannot be opened: ") + std::strerror(errno));
  std::vector<std::string> lines;
  for (std::string line; std::getline(input, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (lines.empty() && line.rfind("\xef\xbb\xbf", 0) == 0) line.erase(0, 3);
    lines.push_back(std::move(line));
  }
  if (input.bad()) throw Error(file.string(), "", std::string("cannot be read: ") + std::strerror(errno));
  return lines;
}

}  // namespace attn::app
