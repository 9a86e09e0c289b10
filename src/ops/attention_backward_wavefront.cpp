// SPDX-License-Identifier: Apache-2.0
#include "ops/attention_backward_wavefront.hpp"

#include <algorithm>
#include <thread>

namespace attn::ops {
namespace {

using runtime::Scratch;

// A unit without queries, or without keys, still has a part of them: what it has of the other must be stored.
std::ptrdiff_t rows_of(const BackwardUnit& unit) { return std::max<std::ptrdiff_t>(1, unit.query_parts); }
std::ptrdiff_t columns_of(const BackwardUnit& unit) { return std::max<std::ptrdiff_t>(1, unit.key_parts); }

std::size_t bytes_of(const BackwardCuts& cuts, const BackwardUnit& unit) {
  return static_cast<std::size_t>(unit.key_parts) * cuts.key_bytes() +
         static_cast<std::size_t>(unit.query_parts) * cuts.query_bytes();
}

// Steps begin in order, and each thread is in one, so that steps of at most so many units and the next one are there.
std::size_t slot_count(const std::vector<BackwardUnit>& units, int threads) {
  return std::min(units.size(), static_cast<std::size_t>(threads) + 1);
}

}  // namespace

std::size_t BackwardWavefront::scratch_bytes(const BackwardCuts& cuts, const std::vector<BackwardUnit>& units,
                                             int threads) {
  std::size_t largest = 0;
  for (const BackwardUnit& unit : units) largest = std::max(largest, bytes_of(cuts, unit));
  return slot_count(units, threads) * largest + static_cast<std::size_t>(threads) * cuts.work_bytes();
}

BackwardWavefront::BackwardWavefront(const BackwardPlan& plan, const BackwardCuts& cuts,
                                     const std::vector<BackwardUnit>& units, int threads, runtime::ScratchPool& pool,
                                     double* dsink)
    : plan_(plan), cuts_(cuts), units_(units), pool_(pool), dsink_(dsink), slots_(slot_count(units, threads)) {}

void BackwardWavefront::work() {
  try {
    Scratch scratch(pool_, cuts_.work_bytes());
    std::byte* memory = scratch.take<std::byte>(cuts_.work_bytes());
    while (const std::optional<Step> step = next()) {
      const BackwardUnit& unit = units_[static_cast<std::size_t>(step->unit)];
      Slot& slot = slots_[static_cast<std::size_t>(step->unit) % slots_.size()];
      if (!wait_for(*step, slot)) return;
      run(unit, slot, *step, memory);
      const bool is_last = step->query_part == rows_of(unit) - 1 && step->key_part == columns_of(unit) - 1;
      slot.done[static_cast<std::size_t>(step->key_part)].store(step->query_part + 1, std::memory_order_release);
      if (is_last) slot.finished.fetch_add(1, std::memory_order_release);
    }
  } catch (...) {
    has_failed_ = true;
    throw;
  }
}

std::optional<BackwardWavefront::Step> BackwardWavefront::next() {
  const std::lock_guard lock(mutex_);
  if (unit_ == static_cast<std::ptrdiff_t>(units_.size())) return std::nullopt;
  const std::ptrdiff_t rows = rows_of(units_[static_cast<std::size_t>(unit_)]);
  const std::ptrdiff_t columns = columns_of(units_[static_cast<std::size_t>(unit_)]);
  const Step step{unit_, diagonal_ - key_part_, key_part_};
  if (++key_part_ > std::min(diagonal_, columns - 1)) {
    ++diagonal_;
    key_part_ = std::max<std::ptrdiff_t>(0, diagonal_ - rows + 1);
  }
  if (diagonal_ == rows + columns - 1) {
    ++unit_;
    diagonal_ = key_part_ = 0;
  }
  return step;
}

// Whether the count came to `wanted`, rather than an error of another thread.
bool BackwardWavefront::wait_for(const std::atomic<std::ptrdiff_t>& count, std::ptrdiff_t wanted) const {
  while (count.load(std::memory_order_acquire) < wanted) {
    if (has_failed_) return false;
    std::this_thread::yield();
  }
  return true;
}

bool BackwardWavefront::wait_for(const Step& step, Slot& slot) {
  const std::ptrdiff_t before = step.unit / static_cast<std::ptrdiff_t>(slots_.size());  // units in this slot
  const auto c = static_cast<std::size_t>(step.key_part);
  if (step.query_part == 0 && step.key_part == 0) {
    if (!wait_for(slot.finished, before)) return false;
    open(units_[static_cast<std::size_t>(step.unit)], slot);
    slot.opened.fetch_add(1, std::memory_order_release);
    return true;
  }
  if (!wait_for(slot.opened, before + 1)) return false;
  if (c > 0 && !wait_for(slot.done[c - 1], step.query_part + 1)) return false;
  return wait_for(slot.done[c], step.query_part);
}

void BackwardWavefront::open(const BackwardUnit& unit, Slot& slot) const {
  slot.scratch.reset();  // before the next, which may then have its memory
  slot.scratch = std::make_unique<runtime::Scratch>(pool_, bytes_of(cuts_, unit));
  slot.queries.assign(static_cast<std::size_t>(unit.query_parts), {});
  slot.key_states.assign(static_cast<std::size_t>(unit.key_parts), nullptr);
  for (std::ptrdiff_t c = 0; c < unit.key_parts; ++c) {
    slot.key_states[static_cast<std::size_t>(c)] =
        cuts_.key_state(cuts_.keys(*unit.sequence, unit.kv_head, c), *slot.scratch);
  }
  slot.done = std::vector<std::atomic<std::ptrdiff_t>>(static_cast<std::size_t>(columns_of(unit)));
}

// A part's first pair reads its operands, and its last stores its gradients. What parts of queries take from the slot's
// memory they take in the first pair of their row, and these go one after the other.
void BackwardWavefront::run(const BackwardUnit& unit, Slot& slot, const Step& step, std::byte* memory) const {
  const bool has_queries = unit.query_parts > 0, has_keys = unit.key_parts > 0;
  Queries* queries = has_queries ? &slot.queries[static_cast<std::size_t>(step.query_part)] : nullptr;
  std::byte* key_state = has_keys ? slot.key_states[static_cast<std::size_t>(step.key_part)] : nullptr;
  kernels::BackwardKeys keys;
  if (has_keys) keys = cuts_.keys(*unit.sequence, unit.kv_head, step.key_part);
  if (has_keys && step.query_part == 0) kernels::begin_keys(plan_.call, keys, key_state);
  if (has_queries && step.key_part == 0) {
    queries->part = cuts_.queries(unit, step.query_part, *slot.scratch);
    queries->state = cuts_.query_state(queries->part, *slot.scratch);
    dsink_[unit.first_part + step.query_part] = kernels::begin_queries(plan_.call, queries->part, queries->state);
  }
  if (has_queries && has_keys) {
    kernels::backward_pair(plan_.call, queries->part, queries->state, keys, key_state, memory);
  }
  if (has_queries && step.key_part == columns_of(unit) - 1) {
    kernels::end_queries(plan_.call, queries->part, queries->state);
  }
  if (has_keys && step.query_part == rows_of(unit) - 1) kernels::end_keys(plan_.call, keys, key_state);
}

}  // namespace attn::ops
