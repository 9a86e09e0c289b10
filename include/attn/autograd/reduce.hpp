// SPDX-License-Identifier: Apache-2.0
// Sums in an order that depends on the shape alone: any number of threads gives the same bits.
#pragma once

#include <attn/autograd/variable.hpp>

namespace attn::autograd {

// The sum, or the mean, of all elements: shape (). The mean of no elements is refused.
ATTN_API Variable sum(const Variable& x, Context& context = default_context());
ATTN_API Variable mean(const Variable& x, Context& context = default_context());
// The mean over dimension d, which goes; negative d counts from the end. Pooling over tokens: mean_over(x, 1).
ATTN_API Variable mean_over(const Variable& x, int d, Context& context = default_context());

}  // namespace attn::autograd
