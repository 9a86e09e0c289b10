// SPDX-License-Identifier: Apache-2.0
// Matrix products in the three directions that a linear layer needs, all by attn::linear and its packed kernels.
#pragma once

#include <attn/any_view.hpp>
#include <attn/context.hpp>

namespace attn::autograd {

// The matrix turned over, and some of its rows: views.
In<2> transposed(const In<2>& m);
In<2> rows_between(const In<2>& m, std::ptrdiff_t begin, std::ptrdiff_t end);

// y = a b^T (+ bias): a (M, K), b (N, K), bias (N), y (M, N).
void multiply_nt(const In<2>& a, const In<2>& b, const In<1>& bias, const Out<2>& y, Context& context);
// y = a^T b: a (K, M), b (K, N), y (M, N). For large K: summed in ascending order, a fixed number of rows at a time.
void multiply_tn(const In<2>& a, const In<2>& b, const Out<2>& y, Context& context);

}  // namespace attn::autograd
