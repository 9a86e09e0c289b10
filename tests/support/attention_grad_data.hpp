// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/attention_backward.hpp>
#include <string>
#include <vector>

#include "kernels/reference/attention_backward.hpp"
#include "support/attention_data.hpp"

namespace attn::test {

// The instruction sets of this machine that differ in how they compute gradients of a dtype: with those that multiply
// bf16 in pairs, all for bf16.
std::vector<std::string> isas_for(DType dtype);

// A case of the table with what its backward takes and gives: gradients have the dtypes and layouts of their operands,
// the saved output that of the sums. Every other case has a derivative by lse too.
struct AttentionGradData {
  explicit AttentionGradData(const AttentionCase& described);
  AttentionGradData(const AttentionGradData&) = delete;
  AttentionGradData& operator=(const AttentionGradData&) = delete;

  // Fills `out` and `lse`.
  void forward(Context& context);
  void backward(Context& context, GradWrite write = GradWrite::overwrite);

  AttentionOutputGrads output_grads() const { return {.out = grad_out.in(), .lse = grad_lse.in()}; }
  AttentionSaved saved() const;
  AttentionGrads grads(GradWrite write = GradWrite::overwrite);
  void poison_grads();
  bool guards_hold() const;
  kernels::reference::AttentionInputGrads reference() const;
  // Why the gradients are not the expected ones; empty when they are. `slack` multiplies what is allowed.
  std::string complaint(const kernels::reference::AttentionInputGrads& expected, double slack = 1) const;
  std::vector<std::vector<std::uint64_t>> bits() const;

  AttentionCase c;
  AttentionData data;
  GuardedArray<4> out, grad_out, dq, dk, dv, dbias;
  GuardedArray<3> lse, grad_lse;
  GuardedArray<1> dsink;
};

}  // namespace attn::test
