// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/activation.hpp>
#include <attn/base.hpp>
#include <attn/context.hpp>

namespace attn {

// y = activation(x), element by element; x and y (rows, columns), f32, f64, bf16 or f16 with any strides; y may be x.
// Computed in f64 when x is f64, else in f32. Throws Error naming the argument, what was expected and what was found.
ATTN_API void activate(In<2> x, Out<2> y, Activation activation, Context& context = default_context());

}  // namespace attn
