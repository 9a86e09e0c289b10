// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/autograd/variable.hpp>

namespace attn::autograd {

// x W^T + bias: x (..., in), weight (out, in), bias (out) or nothing, to (..., out) in x's dtype. Weights of another
// dtype than x's are allowed (f32 weights under bf16 activations). Products by the packed kernels of attn::linear, in
// both directions; the gradient of the weight is summed over the rows in ascending order, in blocks whose size is
// fixed. Time O(rows * in * out), three times that with both gradients. Throws Error naming the argument.
ATTN_API Variable linear(const Variable& x, const Variable& weight, const Variable& bias = {},
                         Context& context = default_context());

// a b: a (..., M, K), b (..., K, N) with the same leading dimensions, or (K, N) for all of them. Throws Error naming
// the argument.
ATTN_API Variable matmul(const Variable& a, const Variable& b, Context& context = default_context());

}  // namespace attn::autograd
