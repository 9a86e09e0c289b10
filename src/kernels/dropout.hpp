// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/philox.hpp"

namespace attn::kernels {

// y[n] = x[n] / (1 - p) for the elements that the rule keeps, else 0, for n = first ... first + count - 1; x and y are
// arrays of all elements, y may be x, and `first` is a multiple of 4. Element n has word n % 4 of the rule's quad n /
// 4, whose lower 32 bits stand for j and whose upper ones for i.
void dropout(const float* x, float* y, std::ptrdiff_t first, std::ptrdiff_t count, const DropoutRule& rule,
             std::int64_t target) noexcept;
void dropout(const double* x, double* y, std::ptrdiff_t first, std::ptrdiff_t count, const DropoutRule& rule,
             std::int64_t target) noexcept;

}  // namespace attn::kernels
