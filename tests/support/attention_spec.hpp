// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/attention_options.hpp>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/reference/attention.hpp"
#include "kernels/reference/attention_backward.hpp"

namespace attn::test {

// A mask as data: the intersection of what is there. Built into an attn::Mask, and asked itself by the reference, so
// that neither learns from the other.
struct MaskSpec {
  bool causal = false;
  std::int64_t left = Mask::unbounded, right = Mask::unbounded;
  std::optional<std::int64_t> prefix = {};
  std::optional<std::vector<std::int64_t>> lengths = {};
  In<2> documents = {};
  In<4> keep = {}, drop = {};
};
Mask build(const MaskSpec& spec);

// What AttentionOptions say, as data.
struct AttentionSpec {
  MaskSpec mask = {};
  Align::Kind align = Align::Kind::unspecified;
  In<2> positions = {};  // i32
  std::optional<double> scale = {}, softcap = {};
  In<4> bias = {};
  In<1> sink = {}, alibi = {};
  std::vector<std::int32_t> cu_q = {}, cu_k = {};
  Dropout dropout = {};
};
// Views the spec: it must outlive the options.
AttentionOptions build(const AttentionSpec& spec);

// What attention must give, by the f64 twin: DESIGN section 3 stated a second time, pair by pair, without the library's
// own masks and plans.
kernels::reference::AttentionResult reference_attention(In<4> q, In<4> k, In<4> v, const AttentionSpec& spec);
// Its derivatives, likewise.
kernels::reference::AttentionInputGrads reference_attention_backward(
    In<4> q, In<4> k, In<4> v, const AttentionSpec& spec, const kernels::reference::AttentionOutputGrads& grads);

}  // namespace attn::test
