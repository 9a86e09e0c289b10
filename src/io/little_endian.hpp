// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>

namespace attn::io {

static_assert(std::endian::native == std::endian::little, "numbers in files are taken as they are");

// The number at byte `at`, which the caller has checked to lie in `bytes`.
template <class T>
T load_number(std::span<const std::byte> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <class T>
void append_number(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace attn::io
