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

// Some queries of a sequence, of one head or of several that share a kv head, against all its keys or one chunk of
// them.
struct TaskPlace {
  const Sequence* sequence = nullptr;
  std::ptrdiff_t head = 0, first_query = 0, queries = 0;
  std::ptrdiff_t heads = 1;
  std::ptrdiff_t chunk = 0, chunks = 1;
  std::ptrdiff_t partial = 0;  // where the place's partial results begin, in numbers of the compute type
  std::ptrdiff_t rows() const noexcept { return heads * queries; }
};

// A plan cut into pieces that threads share out. How queries and heads are cut changes no bit of a row: lanes do not
// mix. The chunks in which a kernel adds up many keys are tasks of their own where queries are few, and are merged in
// their order; elsewhere the kernel does both itself, with the same bits.
class AttentionTasks {
 public:
  // `bf16`: how the machine multiplies bf16 where all operands and the output are of that type.
  AttentionTasks(const AttentionPlan& plan, std::int64_t target, int threads,
                 base::Bf16Products bf16 = base::Bf16Products::widened);

  base::Bf16Products bf16() const { return bf16_; }
  // Numbers of one chunk's partial results.
  std::ptrdiff_t partial_size(std::ptrdiff_t rows) const;

  std::ptrdiff_t count() const { return count_; }
  // Later queries come first: with a causal mask they are the heaviest, and light tasks at the end fill the gaps.
  TaskPlace place(std::ptrdiff_t i) const;
  // Places whose chunks are to be merged when every task is done.
  std::ptrdiff_t merges() const { return static_cast<std::ptrdiff_t>(merges_.size()); }
  TaskPlace merge(std::ptrdiff_t i) const { return place(merges_[static_cast<std::size_t>(i)]); }
  std::size_t partial_bytes() const;
  // What `task` and the kernel together take.
  std::size_t scratch_bytes(const TaskPlace& place) const;
  std::size_t kernel_bytes(const TaskPlace& place) const;
  // The views and numbers of a task, its intervals and masks in scratch.
  kernels::AttentionTask task(const TaskPlace& place, runtime::Scratch& scratch) const;

 private:
  struct Group {  // the tasks of one sequence
    std::ptrdiff_t first = 0, blocks = 0;
    std::ptrdiff_t queries = 0, heads = 1;  // of a task: of each head, and the heads that share it
    std::ptrdiff_t head_blocks = 0, chunks = 1;
    std::ptrdiff_t partial = 0;
  };
  void add_group(const Sequence& sequence);
  kernels::AttentionTask operands(const TaskPlace& place) const;
  void set_outputs(const TaskPlace& place, kernels::AttentionTask& task) const;
  void set_heads(const TaskPlace& place, runtime::Scratch& scratch, kernels::AttentionTask& task) const;
  void set_masks(const TaskPlace& place, runtime::Scratch& scratch, kernels::AttentionTask& task) const;

  const AttentionPlan& plan_;
  std::int64_t target_;
  base::Bf16Products bf16_;
  std::ptrdiff_t block_queries_ = 0, task_queries_ = 0, count_ = 0, partial_size_ = 0;
  std::vector<Group> groups_;
  std::vector<std::ptrdiff_t> merges_;  // their first chunks' tasks
  std::optional<kernels::DropoutRule> dropout_;
};

}  // namespace attn::ops
