// SPDX-License-Identifier: Apache-2.0
// How a learning rate goes: factors of its largest value, for Optimiser::set_learning_rate.
#pragma once

#include <attn/export.hpp>
#include <cstdint>

namespace attn::nn {

// From 0 to 1 in a straight line over steps 1 ... warmup, then along half a cosine to `last` at step `total`, where it
// stays (Loshchilov & Hutter 2017). step counts from 1. Throws Error unless 0 <= warmup <= total.
ATTN_API double warmup_cosine(std::int64_t step, std::int64_t warmup, std::int64_t total, double last = 0);

// From 0 to 1 over steps 1 ... warmup, then sqrt(warmup / step) (Vaswani et al. 2017, section 5.3, times its largest
// value). Throws Error unless warmup >= 1.
ATTN_API double inverse_sqrt(std::int64_t step, std::int64_t warmup);

}  // namespace attn::nn
