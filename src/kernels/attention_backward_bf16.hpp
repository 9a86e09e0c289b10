// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/attention_backward.hpp"

namespace attn::kernels {

// What attention_backward.hpp offers, of a call whose products of bf16 are not widened; backward_pair_bf16 is
// bias_pair() where there is a `sum`. Whoever sets call.bf16 knows that the machine has what it names.
//
// Order of operations, where it differs. Scores and derivatives by weights are sums over the pairs of dims in order, of
// what the processor makes of a pair (it takes subnormal numbers for 0); scores are multiplied by scale * log2(e) after
// that. Weights, after dropout, and derivatives by scores are f32 until they meet the other operand, rounded to bf16:
// gradients are sums over groups of 32 queries or keys, which count from the first of the sequence.
double begin_queries_bf16(const BackwardCall& call, const BackwardQueries& queries, std::byte* state) noexcept;
void begin_keys_bf16(const BackwardCall& call, const BackwardKeys& keys, std::byte* state) noexcept;
void backward_pair_bf16(const BackwardCall& call, const BackwardQueries& queries, std::byte* query_state,
                        const BackwardKeys& keys, std::byte* key_state, const BiasSum* sum, std::byte* work) noexcept;
void end_queries_bf16(const BackwardCall& call, const BackwardQueries& queries, std::byte* state) noexcept;
void end_keys_bf16(const BackwardCall& call, const BackwardKeys& keys, std::byte* state) noexcept;

}  // namespace attn::kernels
