// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/base.hpp>
#include <attn/context.hpp>

namespace attn {
inline namespace ATTN_ABI {

struct NormOptions {
  In<1> weight = {};  // (features), multiplied; 1 when not given
  In<1> bias = {};    // (features), added; 0 when not given
  double eps = 1e-5;  // added to the variance (mean square), so that a constant row divides by no 0; at least 0
};

}  // namespace ATTN_ABI

// Normalises each row of x, (rows, features), into y of the same shape, which may be x itself. f32, f64, bf16 or f16
// with any strides; computed in f64 when x is f64, else in f32, and rounded once when y is of another dtype. A row's
// bits depend on that row alone. Time O(rows * features). Throws Error naming the argument, what was expected, found.

// y = (x - mean) / sqrt(variance + eps) * weight + bias (Ba et al. 2016, "Layer normalization").
ATTN_API void layer_norm(In<2> x, Out<2> y, const NormOptions& options = {}, Context& context = default_context());

// y = x / sqrt(mean of squares + eps) * weight + bias (Zhang & Sennrich 2019, "Root mean square layer normalization").
ATTN_API void rms_norm(In<2> x, Out<2> y, const NormOptions& options = {}, Context& context = default_context());

}  // namespace attn
