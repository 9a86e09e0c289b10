// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/reference/attention.hpp"

namespace attn::kernels::reference {

// What a loss says about the forward's results: its derivatives by each element of them.
struct AttentionOutputGrads {
  In<4> out = {};  // (B, Hq, L, Dv); none: zeros
  In<3> lse = {};  // (B, Hq, L); none: zeros
};

// Derivatives by the operands, row-major in f64.
struct AttentionInputGrads {
  std::vector<double> dq;     // (B, Hq, L, D)
  std::vector<double> dk;     // (B, Hkv, S, D), summed over the query heads of a group
  std::vector<double> dv;     // (B, Hkv, S, Dv), likewise
  std::vector<double> dbias;  // as the bias, summed where an extent of 1 is broadcast
  std::vector<double> dsink;  // (Hq)
};

// The readable twin of the backward kernels: the forward's steps in reverse, pair by pair, in f64. A hidden pair passes
// nothing on, so that rows which see no key have gradient 0. Memory and time as the forward's.
AttentionInputGrads attention_backward(const AttentionInputs& in, const AttentionOutputGrads& grads);

}  // namespace attn::kernels::reference
