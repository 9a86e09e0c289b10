// SPDX-License-Identifier: Apache-2.0
// How a kernel file offers one function for every instruction set that is compiled in:
//
//   #undef HWY_TARGET_INCLUDE
//   #define HWY_TARGET_INCLUDE "kernels/this_file.cpp"
//   #include <hwy/foreach_target.h>  // Includes this file once more for each instruction set. It must come before
//   #include <hwy/highway.h>         // anything that includes highway.h, dispatch.hpp among it.
//
//   HWY_BEFORE_NAMESPACE();
//   namespace attn::kernels::HWY_NAMESPACE { namespace { void scale(float* x, std::size_t n) { ... } } }
//   HWY_AFTER_NAMESPACE();
//
//   #if HWY_ONCE
//   namespace attn::kernels {
//   HWY_EXPORT(scale);  // Takes no noexcept functions: the one below says it.
//   void scale(float* x, std::size_t n, std::int64_t target) noexcept { ATTN_DISPATCH(scale, target)(x, n); }
//   }
//   #endif
//
// Everything compiled for an instruction set stays inside HWY_NAMESPACE: an inline function or template shared between
// sets would be one weak symbol, and the linker could keep the copy that this machine cannot run. For the same reason
// lambdas there are marked HWY_ATTR, and what depends on the set tests HWY_TARGET, not the compiler's __AVX2__.
#pragma once

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

namespace attn::kernels {

// Where Highway's tables hold the functions for `target`, one bit of its numbering as in runtime::Isa; the best that
// is compiled in and no better than `target`. Highway's own choice is global to the process and is never used.
inline std::size_t table_index(std::int64_t target) noexcept {
#if (HWY_TARGETS & (HWY_TARGETS - 1)) == 0
  (void)target;
  return 0;  // Only one set is compiled in, and the table has one entry.
#else
  hwy::ChosenTarget chosen;
  chosen.Update(target);
  return chosen.GetIndex();
#endif
}

}  // namespace attn::kernels

// The variant for `target` of a function that HWY_EXPORT has named.
#define ATTN_DISPATCH(function, target) (*HWY_DISPATCH_TABLE(function)[::attn::kernels::table_index(target)])
