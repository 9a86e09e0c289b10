// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/attention.hpp"
#include "ops/attention_plan.hpp"
#include "runtime/scratch.hpp"

namespace attn::ops {

// Some queries of one head of one sequence.
struct TaskPlace {
  const Sequence* sequence = nullptr;
  std::ptrdiff_t head = 0, first_query = 0, queries = 0;
};

// A plan cut into pieces that threads share out. Where the cuts are changes no bit of a row: lanes do not mix.
class AttentionTasks {
 public:
  AttentionTasks(const AttentionPlan& plan, std::int64_t target, int threads);

  std::ptrdiff_t count() const { return count_; }
  // Later queries come first: with a causal mask they are the heaviest, and light tasks at the end fill the gaps.
  TaskPlace place(std::ptrdiff_t i) const;
  // What `task` and the kernel together take.
  std::size_t scratch_bytes(const TaskPlace& place) const;
  std::size_t kernel_bytes(const TaskPlace& place) const;
  // The views and numbers of a task, its intervals and masks in scratch.
  kernels::AttentionTask task(const TaskPlace& place, runtime::Scratch& scratch) const;

 private:
  kernels::AttentionTask operands(const TaskPlace& place) const;
  void set_outputs(const TaskPlace& place, kernels::AttentionTask& task) const;
  void set_masks(const TaskPlace& place, runtime::Scratch& scratch, kernels::AttentionTask& task) const;

  struct Group {  // the tasks of one sequence
    std::ptrdiff_t first = 0, blocks = 0;
  };
  const AttentionPlan& plan_;
  std::int64_t target_;
  std::ptrdiff_t block_queries_ = 0, count_ = 0;
  std::vector<Group> groups_;
  std::optional<kernels::DropoutRule> dropout_;
};

}  // namespace attn::ops
