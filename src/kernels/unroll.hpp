// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hwy/base.h>

// Before a loop of a constant number of passes over an array of vectors: unrolled, the array lives in registers. Under
// clang's sanitizers every element is checked in memory all the same, and unrolled checks take the compiler minutes.
#if HWY_IS_ASAN || HWY_IS_TSAN || HWY_IS_MSAN
#define ATTN_UNROLL
#elif HWY_COMPILER_CLANG
#define ATTN_UNROLL _Pragma("unroll")
#else
#define ATTN_UNROLL _Pragma("GCC unroll 32")
#endif
