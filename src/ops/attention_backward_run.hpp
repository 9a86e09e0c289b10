// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "ops/attention_backward_parts.hpp"
#include "runtime/executor.hpp"

namespace attn::ops {

// dq, dk, dv and dsink of a call. Every sum goes over parts of keys, or of queries, in their order. With many units
// each is one task; with few, threads share the pairs of their parts in a wavefront. The bits are the same.
class BackwardRun {
 public:
  BackwardRun(const BackwardPlan& plan, int threads);

  void run(runtime::Executor& executor, runtime::ScratchPool& pool);
  std::ptrdiff_t task_count() const;
  std::size_t scratch_bytes() const;  // of all threads together, at most
  const kernels::BackwardParts& sizes() const { return cuts_.sizes(); }

 private:
  void run_unit(const BackwardUnit& unit, runtime::ScratchPool& pool);
  std::size_t unit_bytes(const BackwardUnit& unit) const;
  void store_sink() const;
  void clear_unread_keys() const;

  const BackwardPlan& plan_;
  BackwardCuts cuts_;
  int threads_;
  std::vector<BackwardUnit> units_;
  bool splits_units_ = false;
  std::vector<double> dsink_;  // of each part of queries
};

}  // namespace attn::ops
