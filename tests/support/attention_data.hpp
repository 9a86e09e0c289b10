// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/attention.hpp>

#include "support/attention_cases.hpp"
#include "support/attention_spec.hpp"
#include "support/guarded_array.hpp"

namespace attn::test {

// The operands, options and outputs of a case, made from its seed. Does not move: the spec views the arrays.
struct AttentionData {
  explicit AttentionData(const AttentionCase& described);
  AttentionData(const AttentionData&) = delete;
  AttentionData& operator=(const AttentionData&) = delete;

  AttentionOutputs outputs();
  void poison_outputs();
  // Whether all guard bands hold, of inputs and of outputs.
  bool guards_hold() const;

  GuardedArray<4> q, k, v;
  AttentionSpec spec;

  GuardedArray<4> out;
  GuardedArray<3> lse;
  GuardedArray<4> weights, scores;
  ScoreStage stage = ScoreStage::scaled;

 private:
  friend struct AttentionMaker;
  GuardedArray<4> bias_, keep_, drop_;
  GuardedArray<2> documents_, positions_;
  GuardedArray<1> sink_, alibi_;
};

}  // namespace attn::test
