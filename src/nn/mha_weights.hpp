// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/nn/multi_head_attention.hpp>

namespace attn::nn {

// What the caller asked for of contiguous weights (batch, heads, queries, keys), f32 or f64; nothing of nothing.
Tensor asked_weights(const Tensor& weights, const MhaOptions& options, bool is_batched, Context& context);

}  // namespace attn::nn
