// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/linear.hpp>

namespace attn::ops {

// Throws Error naming the argument of `linear` that does not fit the others.
void check_linear(const In<2>& x, const PackedWeight& weight, const Out<2>& y, const LinearOptions& options);

}  // namespace attn::ops
