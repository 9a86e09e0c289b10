// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/attention_backward.hpp>
#include <vector>

#include "kernels/attention_backward.hpp"
#include "ops/attention_plan.hpp"
#include "ops/attention_tasks.hpp"
#include "runtime/isa.hpp"
#include "runtime/scratch.hpp"

namespace attn::ops {

// A checked backward call. Views into the caller's arguments, which must outlive it.
struct BackwardPlan {
  AttentionPlan forward;
  AttentionOutputGrads output_grads;
  AttentionSaved saved;
  AttentionGrads grads;
  kernels::BackwardCall call;  // of the kernel
};
// For the kernel of an instruction set. Throws Error, as attention_backward() does, for whatever is wrong with the
// arguments.
BackwardPlan plan_backward(const char* function, const AttentionOutputGrads& output_grads, const AttentionSaved& saved,
                           const AttentionGrads& grads, const AttentionOptions& options, const runtime::Isa& isa);

// One kv head of one sequence, with the query heads that read it. Its parts of queries count through these heads.
struct BackwardUnit {
  const Sequence* sequence = nullptr;
  std::ptrdiff_t kv_head = 0;
  std::ptrdiff_t query_parts = 0, key_parts = 0;
  std::ptrdiff_t first_part = 0;  // of its parts of queries, among those of all units
};

// Queries and keys cut into parts, as the kernel takes them. The cuts follow from the call's shapes alone, so that
// sums over parts in their order are the same whoever computes them.
class BackwardCuts {
 public:
  explicit BackwardCuts(const BackwardPlan& plan);

  // How many parts a head of a sequence has.
  std::ptrdiff_t query_parts(const Sequence& s) const { return (s.queries + sizes_.queries - 1) / sizes_.queries; }
  std::ptrdiff_t key_parts(const Sequence& s) const { return (s.keys + sizes_.keys - 1) / sizes_.keys; }
  const kernels::BackwardParts& sizes() const { return sizes_; }
  std::vector<BackwardUnit> units() const;

  // A part's views, its masks in scratch; and what those and its state take there.
  kernels::BackwardQueries queries(const BackwardUnit& unit, std::ptrdiff_t part, runtime::Scratch& scratch) const;
  kernels::BackwardQueries queries(const Sequence& s, std::ptrdiff_t head, std::ptrdiff_t part,
                                   runtime::Scratch& scratch) const;
  kernels::BackwardKeys keys(const Sequence& s, std::ptrdiff_t kv_head, std::ptrdiff_t part) const;
  std::byte* query_state(const kernels::BackwardQueries& part, runtime::Scratch& scratch) const;
  std::byte* key_state(const kernels::BackwardKeys& part, runtime::Scratch& scratch) const;
  std::size_t query_bytes() const { return query_bytes_; }  // of a full part
  std::size_t key_bytes() const { return key_bytes_; }
  std::size_t work_bytes() const { return kernels::backward_work_bytes(plan_.call); }

 private:
  TaskPlace place(const Sequence& s, std::ptrdiff_t head, std::ptrdiff_t part) const;

  const BackwardPlan& plan_;
  AttentionTasks tasks_;
  kernels::BackwardParts sizes_;
  std::size_t query_bytes_ = 0, key_bytes_ = 0;
};

}  // namespace attn::ops
