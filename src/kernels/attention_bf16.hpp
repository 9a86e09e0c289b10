// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/attention.hpp"

namespace attn::kernels {

// attention() and merge_attention() of a task whose products of bf16 are not widened. Whoever sets task.bf16 knows that
// the machine has what it names.
//
// Order of operations, where it differs. A score is a sum over the pairs of dims in order, of what the processor makes
// of a pair (it takes subnormal numbers for 0), and is multiplied by scale * log2(e) after that. Keys go in groups of
// 32. Weights meet the values rounded to bf16, and outputs are divided by the sum of the
// rounded weights; lse and the weights returned come from the others.
void attention_bf16(std::int64_t target, const AttentionTask& task, std::byte* scratch) noexcept;
void merge_attention_bf16(std::int64_t target, const AttentionTask& task, const void* partials, std::ptrdiff_t count,
                          std::byte* scratch) noexcept;

// As fma_work_f32 of kernels/peak.hpp: `rounds` times so many of these products in registers that none waits for
// another. Returns their flops.
double bf16_work(std::ptrdiff_t rounds, base::Bf16Products products, std::int64_t target) noexcept;

}  // namespace attn::kernels
