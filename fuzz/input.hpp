// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

namespace attn::fuzz {

// A copy of the input that tensors may adopt and write to, exactly as long, so that AddressSanitizer sees what lies
// behind its end.
struct Input {
  std::shared_ptr<std::vector<std::byte>> owner;
  std::span<std::byte> bytes;

  Input(const std::uint8_t* data, std::size_t size)
      : owner(std::make_shared<std::vector<std::byte>>(reinterpret_cast<const std::byte*>(data),
                                                       reinterpret_cast<const std::byte*>(data) + size)),
        bytes(*owner) {}
};

// A property that must hold for every input; libFuzzer keeps the input for which it does not.
inline void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace attn::fuzz
