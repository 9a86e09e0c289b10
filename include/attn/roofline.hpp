// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <attn/base.hpp>
#include <attn/context.hpp>

namespace attn {
inline namespace ATTN_ABI {

// What bounds any kernel on a machine (Williams, Waterman & Patterson 2009, "Roofline").
struct Roofline {
  double flops_per_second = 0;  // multiply-adds that never leave the registers, two flops each
  double bytes_per_second = 0;  // reading memory from end to end

  // The most that work of `flops`, which must move `bytes` between memory and processor, can reach, in flop/s.
  double attainable(double flops, double bytes) const {
    return bytes > 0 ? std::min(flops_per_second, bytes_per_second * flops / bytes) : flops_per_second;
  }
};

}  // namespace ATTN_ABI

// Measures both, with all threads of the context together, on its instruction set; `products` is the dtype of what is
// multiplied: f32, f64, or bf16 by what the set has for it (AMX tiles, dot products; f32 where it has nothing). The
// best of several short runs, so that what else goes on counts little: about 0.3 s, and 256 MB of the context's memory
// while it lasts. Throws Error for other dtypes, std::bad_alloc when there is no memory.
ATTN_API Roofline measure_roofline(DType products = DType::f32, Context& context = default_context());

}  // namespace attn
