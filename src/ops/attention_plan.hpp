// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/attention.hpp>
#include <cstdint>
#include <vector>

#include "kernels/attention.hpp"

namespace attn::ops {

// One batch entry, or one packed sequence: what masks and positions count in.
struct Sequence {
  std::ptrdiff_t batch = 0;  // of the operands
  std::ptrdiff_t index = 0;  // of lengths, masks, bias, positions and dropout
  std::ptrdiff_t first_query = 0, queries = 0;
  std::ptrdiff_t first_key = 0, all_keys = 0;
  std::ptrdiff_t keys = 0;  // within the length: the others are never read
  std::int64_t offset = 0;  // position of query 0, unless positions are given
  bool is_gap = false;      // tokens outside every packed sequence: rows without keys
};

// A checked call, cut into tasks. Views into the caller's arguments, which must outlive it.
struct AttentionPlan {
  In<4> q, k, v;
  const AttentionOutputs* outs = nullptr;
  const AttentionOptions* options = nullptr;
  DType compute = DType::f32;
  double scale = 1;
  std::ptrdiff_t group = 1;  // query heads to a kv head
  std::vector<Sequence> sequences = {};
};

// Of the softmax and of lse: f64 when an operand is, else f32.
DType compute_dtype(DType q, DType k, DType v) noexcept;

// Throws Error, as attention() does, for whatever is wrong with the arguments.
AttentionPlan plan_attention(const char* function, In<4> q, const KeyValue& kv, const AttentionOutputs& outs,
                             const AttentionOptions& options);
// The same without outputs.
AttentionPlan plan_operands(const char* function, In<4> q, const KeyValue& kv, const AttentionOptions& options);

// Of `count` queries from `first` on of a sequence: where each stands among its keys, and which keys begin .. end it
// may see by causality, window, prefix and length, all of which are intervals.
struct VisibleKeys {
  std::int64_t *position = nullptr, *begin = nullptr, *end = nullptr;
};
void set_visible_keys(const AttentionPlan& plan, const Sequence& sequence, std::ptrdiff_t first, std::ptrdiff_t count,
                      const VisibleKeys& visible) noexcept;

}  // namespace attn::ops
