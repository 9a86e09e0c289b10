// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace attn::base {

// What multiplies bf16 by bf16: multiply-adds of f32, to which operands are widened; the processor's dot product of
// pairs (AVX512-BF16); or its tiles (AMX-BF16).
enum class Bf16Products { widened, dot, tiles };

// What the name of a kernel ends in.
constexpr const char* kernel_suffix(Bf16Products bf16) noexcept {
  switch (bf16) {
    case Bf16Products::dot:
      return ", dot products of bf16";
    case Bf16Products::tiles:
      return ", AMX tiles of bf16";
    default:
      return "";
  }
}

}  // namespace attn::base
