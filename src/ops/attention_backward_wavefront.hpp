// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "ops/attention_backward_parts.hpp"

namespace attn::ops {

// Pairs of parts in an order in which each comes after those that it waits for: unit by unit, diagonal by diagonal. A
// pair waits for the one before it in its row (dq) and the one before it in its column (dk, dv), so that pairs on a
// diagonal go at the same time, and every sum has the order that it has on one thread. Whoever is free takes the next
// pair; what it then waits for has been taken before it and so is being worked on.
class BackwardWavefront {
 public:
  BackwardWavefront(const BackwardPlan& plan, const BackwardCuts& cuts, const std::vector<BackwardUnit>& units,
                    int threads, runtime::ScratchPool& pool, double* dsink);

  // Called by each thread; returns when no pair is left to take.
  void work();

  static std::size_t scratch_bytes(const BackwardCuts& cuts, const std::vector<BackwardUnit>& units, int threads);

 private:
  struct Step {
    std::ptrdiff_t unit = 0, query_part = 0, key_part = 0;
  };
  struct Queries {
    kernels::BackwardQueries part;
    std::byte* state = nullptr;
  };
  // Memory of a unit that is being worked on.
  struct Slot {
    std::unique_ptr<runtime::Scratch> scratch;
    std::vector<Queries> queries;
    std::vector<std::byte*> key_states;
    std::vector<std::atomic<std::ptrdiff_t>> done;       // of each part of keys, the pairs
    std::atomic<std::ptrdiff_t> opened{0}, finished{0};  // how many units this slot has begun with, and ended
  };

  std::optional<Step> next();
  bool wait_for(const std::atomic<std::ptrdiff_t>& count, std::ptrdiff_t wanted) const;
  bool wait_for(const Step& step, Slot& slot);
  void open(const BackwardUnit& unit, Slot& slot) const;
  void run(const BackwardUnit& unit, Slot& slot, const Step& step, std::byte* memory) const;

  const BackwardPlan& plan_;
  const BackwardCuts& cuts_;
  const std::vector<BackwardUnit>& units_;
  runtime::ScratchPool& pool_;
  double* dsink_;  // of each part of queries
  std::vector<Slot> slots_;
  std::atomic<bool> has_failed_{false};
  std::mutex mutex_;
  std::ptrdiff_t unit_ = 0, diagonal_ = 0, key_part_ = 0;  // of the next step
};

}  // namespace attn::ops
