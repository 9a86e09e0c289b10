// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace attn::kernels {

// log(sum of exp(x)) over a row, as max + log(sum of exp(x - max)); -inf for no elements and for none but -inf. The
// order of the sum depends on `count` alone.
float log_sum_exp(const float* x, std::ptrdiff_t count, std::int64_t target) noexcept;
double log_sum_exp(const double* x, std::ptrdiff_t count, std::int64_t target) noexcept;

// y = exp(x - shift) for x <= shift, y may be x; zeros for a shift of -inf.
void exp_below(const float* x, float shift, std::ptrdiff_t count, float* y, std::int64_t target) noexcept;
void exp_below(const double* x, double shift, std::ptrdiff_t count, double* y, std::int64_t target) noexcept;

}  // namespace attn::kernels
