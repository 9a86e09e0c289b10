// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace attn::kernels {

// Work that shows how fast a machine can be, to be timed by the caller. One thread each.

// `rounds` times x * 0.999 + 0.001 in every lane of 12 vectors that stay in registers: enough independent chains to
// keep two multiply-add units busy through their latency. Lane l of all vectors starts at l.
struct FmaWork {
  double flops;  // two for each lane of each multiply-add
  double sum;    // of all lanes, so that no compiler can drop the work
};
FmaWork fma_work_f32(std::ptrdiff_t rounds, std::int64_t target) noexcept;
FmaWork fma_work_f64(std::ptrdiff_t rounds, std::int64_t target) noexcept;

// Reads x from end to end: the sum of its n elements, in some order.
float read_work(const float* x, std::ptrdiff_t n, std::int64_t target) noexcept;

}  // namespace attn::kernels
