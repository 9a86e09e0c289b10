// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace attn::kernels {

// to[c * to_row + r] = from[r * from_row + c] for r < rows, c < columns; the two must not overlap.
void transpose(const float* from, std::ptrdiff_t from_row, std::ptrdiff_t rows, std::ptrdiff_t columns, float* to,
               std::ptrdiff_t to_row, std::int64_t target) noexcept;
void transpose(const double* from, std::ptrdiff_t from_row, std::ptrdiff_t rows, std::ptrdiff_t columns, double* to,
               std::ptrdiff_t to_row, std::int64_t target) noexcept;

}  // namespace attn::kernels
