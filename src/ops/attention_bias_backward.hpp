// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ops/attention_backward_parts.hpp"
#include "runtime/executor.hpp"

namespace attn::ops {

// dbias of a call. A task is a part of the bias, of some queries and some keys (all of them, where the bias is
// broadcast over queries or keys), and goes through the batch entries and heads that share it, in order: sums stay in
// scratch, are rounded once, and depend on no thread. It computes weights and dW once more, which keeps dbias out of
// the loops for everybody else.
class BiasBackward {
 public:
  explicit BiasBackward(const BackwardPlan& plan);

  void run(runtime::Executor& executor, runtime::ScratchPool& pool) const;
  std::size_t scratch_bytes() const;  // of one thread

 private:
  struct Part;
  Part part(std::ptrdiff_t task) const;
  std::ptrdiff_t task_count() const;
  template <class T>
  void run_part(const Part& part, runtime::ScratchPool& pool) const;
  template <class T>
  void add_head(const Part& part, const Sequence& s, std::ptrdiff_t head, T* sum, runtime::ScratchPool& pool) const;
  template <class T>
  void store(const Part& part, const T* sum) const;
  std::ptrdiff_t sum_count() const;

  const BackwardPlan& plan_;
  kernels::BackwardCall call_;  // that wants nothing else
  BackwardCuts cuts_;
};

}  // namespace attn::ops
