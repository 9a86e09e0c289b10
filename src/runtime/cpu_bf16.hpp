// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace attn::runtime {

// What this processor has for bf16, and the system lets this process use.
struct CpuBf16 {
  bool dot = false;       // AVX512-BF16
  bool fast_dot = false;  // its rate is above that of multiply-adds of f32
  bool tiles = false;     // AMX-BF16
};
CpuBf16 detect_cpu_bf16() noexcept;

}  // namespace attn::runtime
