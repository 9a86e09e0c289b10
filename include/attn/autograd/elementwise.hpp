// SPDX-License-Identifier: Apache-2.0
// Functions of each element for itself. Computed in f64 for f64, else in f32, and stored in the first operand's dtype.
// Time O(elements). Each throws Error naming the argument, what was expected and what was found.
#pragma once

#include <attn/activation.hpp>
#include <attn/attention_options.hpp>
#include <attn/autograd/variable.hpp>

namespace attn::autograd {

// a + b, a - b, a * b. b has a's shape, or the last dimensions of it, and is then repeated over the others: a bias
// (features), positions (tokens, features).
ATTN_API Variable add(const Variable& a, const Variable& b, Context& context = default_context());
ATTN_API Variable subtract(const Variable& a, const Variable& b, Context& context = default_context());
ATTN_API Variable multiply(const Variable& a, const Variable& b, Context& context = default_context());

// factor * x.
ATTN_API Variable scale(const Variable& x, double factor, Context& context = default_context());

// The non-linearity of each element; see <attn/activation.hpp>.
ATTN_API Variable activate(const Variable& x, Activation activation, Context& context = default_context());
// tanh(x).
ATTN_API Variable tanh(const Variable& x, Context& context = default_context());

// Zeroes elements with probability p and multiplies the others by 1 / (1 - p) (Srivastava et al. 2014). Which ones
// follows from (seed, offset) and an element's number alone, so that a run replays; p = 0 gives x itself.
ATTN_API Variable dropout(const Variable& x, const Dropout& dropout, Context& context = default_context());

// The same numbers as another floating dtype, rounded to nearest even; the gradient is converted back.
ATTN_API Variable to(const Variable& x, DType dtype, Context& context = default_context());

}  // namespace attn::autograd
