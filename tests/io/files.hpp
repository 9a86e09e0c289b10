// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <algorithm>
#include <attn/error.hpp>
#include <attn/tensor.hpp>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "support/message.hpp"

// What the tests of files share: a folder of their own, bytes in and out, the sentence of an error.
namespace attn::io::test {

using attn::test::message_of;

// Removed, with all it holds, at the end of the test.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "attn-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) found.push_back(entry.path().filename());
    std::sort(found.begin(), found.end());
    return found;
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// A copy of `bytes` on the heap, exactly as long, so that AddressSanitizer sees a read past its end.
struct Owned {
  std::shared_ptr<std::vector<std::byte>> owner;
  std::span<std::byte> bytes;

  explicit Owned(const std::string& text) : owner(std::make_shared<std::vector<std::byte>>(text.size())) {
    if (!text.empty()) std::memcpy(owner->data(), text.data(), text.size());
    bytes = *owner;
  }
};

template <class T>
std::vector<T> values_of(const Tensor& tensor) {
  const Tensor contiguous = tensor.clone();
  const auto values = contiguous.values<T>();
  return {values.begin(), values.end()};
}

template <class Range>
std::vector<std::ptrdiff_t> extents(const Range& shape) {
  return {shape.begin(), shape.end()};
}

}  // namespace attn::io::test
