// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/autograd/variable.hpp>

namespace attn::autograd {

// (x - mean) / sqrt(variance + eps) * weight + bias over the last dimension: attn::layer_norm with gradients. weight
// and bias (features), or nothing. Keeps x, not the result; the backward recomputes mean and variance.
ATTN_API Variable layer_norm(const Variable& x, const Variable& weight, const Variable& bias, double eps = 1e-5,
                             Context& context = default_context());

// x / sqrt(mean of squares + eps) * weight over the last dimension: attn::rms_norm with gradients.
ATTN_API Variable rms_norm(const Variable& x, const Variable& weight, double eps = 1e-5,
                           Context& context = default_context());

}  // namespace attn::autograd
