// SPDX-License-Identifier: Apache-2.0
#include "ops/attention_backward_run.hpp"

#include <algorithm>

#include "base/convert.hpp"
#include "ops/attention_backward_wavefront.hpp"

namespace attn::ops {
namespace {

using runtime::Scratch;

// Units are split when the largest, times the threads, is more than this share of all work: threads would be idle.
constexpr double kLargestShare = 0.5;

double work_of(const BackwardUnit& unit) {
  return static_cast<double>(unit.query_parts) * static_cast<double>(std::max<std::ptrdiff_t>(1, unit.key_parts));
}

bool splits(const std::vector<BackwardUnit>& units, int threads) {
  double work = 0, largest = 0;
  for (const BackwardUnit& unit : units) {
    work += work_of(unit);
    largest = std::max(largest, work_of(unit));
  }
  return threads > 1 && largest > 1 && largest * threads > kLargestShare * work;
}

// Gives 0 to tokens begin .. end of all heads.
void clear_tokens(const Out<4>& grad, std::ptrdiff_t batch, std::ptrdiff_t begin, std::ptrdiff_t end) {
  if (!grad.wanted()) return;
  for (std::ptrdiff_t h = 0; h < grad.extent(1); ++h) {
    for (std::ptrdiff_t t = begin; t < end; ++t) {
      const std::ptrdiff_t row = batch * grad.stride(0) + h * grad.stride(1) + t * grad.stride(2);
      for (std::ptrdiff_t d = 0; d < grad.extent(3); ++d) {
        base::store_as(grad.dtype(), grad.data(), row + d * grad.stride(3), 0.0);
      }
    }
  }
}

}  // namespace

BackwardRun::BackwardRun(const BackwardPlan& plan, int threads)
    : plan_(plan), cuts_(plan), threads_(threads), units_(cuts_.units()), splits_units_(splits(units_, threads)) {
  if (!units_.empty()) dsink_.assign(static_cast<std::size_t>(units_.back().first_part + units_.back().query_parts), 0);
}

std::size_t BackwardRun::unit_bytes(const BackwardUnit& unit) const {
  return static_cast<std::size_t>(unit.key_parts) * cuts_.key_bytes() + cuts_.work_bytes();
}

std::size_t BackwardRun::scratch_bytes() const {
  if (splits_units_) return BackwardWavefront::scratch_bytes(cuts_, units_, threads_);
  std::size_t largest = 0;
  for (const BackwardUnit& unit : units_) largest = std::max(largest, unit_bytes(unit) + cuts_.query_bytes());
  return std::min(static_cast<std::size_t>(threads_), units_.size()) * largest;
}

std::ptrdiff_t BackwardRun::task_count() const {
  if (!splits_units_) return static_cast<std::ptrdiff_t>(units_.size());
  std::ptrdiff_t count = 0;
  for (const BackwardUnit& unit : units_) count += unit.query_parts * unit.key_parts;
  return count;
}

void BackwardRun::run(runtime::Executor& executor, runtime::ScratchPool& pool) {
  if (splits_units_) {
    BackwardWavefront wavefront(plan_, cuts_, units_, threads_, pool, dsink_.data());
    executor.run(threads_, [&](std::ptrdiff_t) { wavefront.work(); });
  } else {
    executor.run(static_cast<std::ptrdiff_t>(units_.size()),
                 [&](std::ptrdiff_t i) { run_unit(units_[static_cast<std::size_t>(i)], pool); });
  }
  if (!plan_.call.adds) clear_unread_keys();
  if (plan_.grads.dsink.wanted()) store_sink();
}

// A part of queries after the other, each against all keys.
void BackwardRun::run_unit(const BackwardUnit& unit, runtime::ScratchPool& pool) {
  Scratch scratch(pool, unit_bytes(unit));
  std::byte* work = scratch.take<std::byte>(cuts_.work_bytes());
  std::vector<std::byte*> key_states;
  const auto keys = [&](std::ptrdiff_t part) { return cuts_.keys(*unit.sequence, unit.kv_head, part); };
  for (std::ptrdiff_t c = 0; c < unit.key_parts; ++c) {
    key_states.push_back(cuts_.key_state(keys(c), scratch));
    kernels::begin_keys(plan_.call, keys(c), key_states.back());
  }
  for (std::ptrdiff_t g = 0; g < unit.query_parts; ++g) {
    Scratch rows(pool, cuts_.query_bytes());
    const kernels::BackwardQueries queries = cuts_.queries(unit, g, rows);
    std::byte* state = cuts_.query_state(queries, rows);
    dsink_[static_cast<std::size_t>(unit.first_part + g)] = kernels::begin_queries(plan_.call, queries, state);
    for (std::ptrdiff_t c = 0; c < unit.key_parts; ++c) {
      kernels::backward_pair(plan_.call, queries, state, keys(c), key_states[static_cast<std::size_t>(c)], work);
    }
    kernels::end_queries(plan_.call, queries, state);
  }
  for (std::ptrdiff_t c = 0; c < unit.key_parts; ++c) {
    kernels::end_keys(plan_.call, keys(c), key_states[static_cast<std::size_t>(c)]);
  }
}

void BackwardRun::store_sink() const {
  const Out<1>& dsink = plan_.grads.dsink;
  for (std::ptrdiff_t h = 0; h < dsink.extent(0); ++h) {
    const std::ptrdiff_t at = h * dsink.stride(0);
    double sum = plan_.call.adds ? base::load_as<double>(dsink.dtype(), dsink.data(), at) : 0;
    for (const BackwardUnit& unit : units_) {
      if (unit.kv_head != h / plan_.forward.group) continue;
      const std::ptrdiff_t count = unit.query_parts / plan_.forward.group;  // of a head
      const std::ptrdiff_t first = unit.first_part + h % plan_.forward.group * count;
      for (std::ptrdiff_t g = 0; g < count; ++g) sum += dsink_[static_cast<std::size_t>(first + g)];
    }
    base::store_as(dsink.dtype(), dsink.data(), at, sum);
  }
}

// Keys beyond a length or outside every sequence have gradient 0.
void BackwardRun::clear_unread_keys() const {
  const auto clear = [&](std::ptrdiff_t batch, std::ptrdiff_t begin, std::ptrdiff_t end) {
    clear_tokens(plan_.grads.dk, batch, begin, end);
    clear_tokens(plan_.grads.dv, batch, begin, end);
  };
  for (const Sequence& s : plan_.forward.sequences) clear(s.batch, s.first_key + s.keys, s.first_key + s.all_keys);
  const Packing& packing = plan_.forward.options->packing;
  if (packing.cu_k.empty()) return;
  clear(0, 0, packing.cu_k.front());
  clear(0, packing.cu_k.back(), plan_.forward.k.extent(2));
}

}  // namespace attn::ops
