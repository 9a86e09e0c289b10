// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hwy/base.h>

// Before a loop of a constant number of passes over an array of vectors: unrolled, the array lives in registers.
#if HWY_COMPILER_CLANG
#define ATTN_UNROLL _Pragma("unroll")
#else
#define ATTN_UNROLL _Pragma("GCC unroll 16")
#endif
