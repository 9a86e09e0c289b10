// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "support/attention_cases.hpp"
#include "support/attention_data.hpp"
#include "support/closeness.hpp"

namespace attn::test {

// Why the outputs of a case are not the reference's; empty when they are.
inline std::string attention_complaint(const AttentionCase& c, const Tolerance& tolerance, const AttentionData& data,
                                       const kernels::reference::AttentionResult& expected) {
  const std::vector<double>& scores = data.stage == ScoreStage::scaled   ? expected.scaled
                                      : data.stage == ScoreStage::capped ? expected.capped
                                                                         : expected.masked;
  const double logits = std::max({1.0, largest(expected.masked), largest(expected.lse)});
  const DType lse_type = c.computes_f64() ? DType::f64 : DType::f32;
  std::string wrong;
  if (data.out.wanted()) {
    const OutError error = out_error(data.out.values(), expected.out, c.out, tolerance);
    if (!error.ok()) wrong += "out: " + detail::too_far(error.found, error.allowed, tolerance);
  }
  if (data.lse.wanted()) wrong += compare_map("lse", data.lse, lse_type, expected.lse, tolerance, logits);
  if (data.weights.wanted()) {
    wrong += compare_map("weights", data.weights, c.map_dtype, expected.weights, tolerance, 1);
  }
  if (data.scores.wanted()) {
    wrong += compare_map("scores", data.scores, c.map_dtype, scores, tolerance, std::max(1.0, largest(scores)));
  }
  if (!data.guards_hold()) wrong += "wrote outside of its outputs";
  return wrong;
}

}  // namespace attn::test
