// SPDX-License-Identifier: Apache-2.0
#include "ops/attention_tasks.hpp"

#include <algorithm>

#include "base/convert.hpp"
#include "ops/head_rows.hpp"
#include "ops/mask_data.hpp"

namespace attn::ops {
namespace {

// How many tasks a thread should have, so that uneven ones even out.
constexpr std::ptrdiff_t kTasksPerThread = 4;

// The same of a bias or pair mask, whose extents of 1 are broadcast.
kernels::Matrix pairs_of(const In<4>& view, const TaskPlace& place) {
  const auto at = [&](int d, std::ptrdiff_t i) { return view.extent(d) == 1 ? 0 : i; };
  kernels::Matrix pairs = rows_of(view, at(0, place.sequence->index), at(1, place.head), at(2, place.first_query));
  if (view.extent(2) == 1) pairs.row_stride = 0;
  if (view.extent(3) == 1) pairs.column_stride = 0;
  return pairs;
}

kernels::DocumentIds documents_of(const In<2>& ids, const TaskPlace& place) {
  const std::ptrdiff_t at = ids.extent(0) == 1 ? 0 : place.sequence->index * ids.stride(0);
  return {.dtype = ids.dtype(), .data = advanced(ids.data(), ids.dtype(), at), .stride = ids.stride(1)};
}

double of_head(const In<1>& view, std::ptrdiff_t head) {
  return base::load_as<double>(view.dtype(), view.data(), head * view.stride(0));
}

}  // namespace

AttentionTasks::AttentionTasks(const AttentionPlan& plan, std::int64_t target, int threads)
    : plan_(plan), target_(target) {
  const kernels::AttentionTiles tiles =
      kernels::attention_tiles(target, plan.compute, std::max(plan.q.extent(3), plan.v.extent(3)));
  const std::ptrdiff_t heads = plan.q.extent(1);
  std::ptrdiff_t rows = 0;
  for (const Sequence& s : plan.sequences) rows += s.queries * heads;
  // Large tasks share widened keys and values; smaller ones keep every thread busy.
  const std::ptrdiff_t share = rows / (threads * kTasksPerThread) / tiles.queries * tiles.queries;
  block_queries_ = threads == 1 ? tiles.task_queries : std::clamp(share, tiles.queries, tiles.task_queries);
  for (const Sequence& s : plan.sequences) {
    const std::ptrdiff_t blocks = (s.queries + block_queries_ - 1) / block_queries_;
    groups_.push_back({.first = count_, .blocks = blocks});
    count_ += blocks * heads;
  }
  const Dropout& dropout = plan.options->dropout;
  if (dropout.p > 0) dropout_.emplace(dropout.p, dropout.seed, dropout.offset);
}

TaskPlace AttentionTasks::place(std::ptrdiff_t i) const {
  const auto after = std::upper_bound(groups_.begin(), groups_.end(), i,
                                      [](std::ptrdiff_t task, const Group& group) { return task < group.first; });
  const auto group = std::prev(after);
  const Sequence& sequence = plan_.sequences[static_cast<std::size_t>(group - groups_.begin())];
  const std::ptrdiff_t heads = plan_.q.extent(1), local = i - group->first;
  const std::ptrdiff_t first = (group->blocks - 1 - local / heads) * block_queries_;
  return {.sequence = &sequence,
          .head = local % heads,
          .first_query = first,
          .queries = std::min(block_queries_, sequence.queries - first)};
}

kernels::AttentionTask AttentionTasks::operands(const TaskPlace& place) const {
  const Sequence& s = *place.sequence;
  const std::ptrdiff_t kv_head = place.head / plan_.group;
  kernels::AttentionTask task{.queries = place.queries,
                              .keys = s.keys,
                              .dim_qk = plan_.q.extent(3),
                              .dim_v = plan_.v.extent(3),
                              .q = rows_of(plan_.q, s.batch, place.head, s.first_query + place.first_query),
                              .k = rows_of(plan_.k, s.batch, kv_head, s.first_key),
                              .v = rows_of(plan_.v, s.batch, kv_head, s.first_key),
                              .scale = plan_.scale,
                              .softcap = plan_.options->softcap.value_or(0)};
  const AttentionOptions& options = *plan_.options;
  if (options.bias.wanted() && !s.is_gap) task.bias = pairs_of(options.bias, place);
  if (options.alibi.wanted()) {
    task.has_alibi = true;
    task.alibi_slope = of_head(options.alibi, place.head);
  }
  return task;
}

std::size_t AttentionTasks::kernel_bytes(const TaskPlace& place) const {
  return kernels::attention_scratch_bytes(target_, plan_.compute, operands(place));
}

std::size_t AttentionTasks::scratch_bytes(const TaskPlace& place) const {
  using runtime::Scratch;
  const MaskData& mask = MaskAccess::data(plan_.options->mask);
  return kernel_bytes(place) + 3 * Scratch::padded<std::int64_t>(static_cast<std::size_t>(place.queries)) +
         Scratch::padded<kernels::PairMask>(mask.pairs.size()) +
         Scratch::padded<kernels::DocumentIds>(mask.documents.size());
}

void AttentionTasks::set_outputs(const TaskPlace& place, kernels::AttentionTask& task) const {
  const AttentionOutputs& outs = *plan_.outs;
  const Sequence& s = *place.sequence;
  const std::ptrdiff_t row = s.first_query + place.first_query;
  if (outs.out.wanted()) task.out = rows_of(outs.out, s.batch, place.head, row);
  if (outs.weights.wanted()) task.weights = rows_of(outs.weights, s.batch, place.head, row);
  if (outs.scores.wanted()) task.scores = rows_of(outs.scores, s.batch, place.head, row);
  task.score_stage = outs.score_stage;
  task.columns = plan_.k.extent(2);
  task.first_column = s.first_key;
  if (outs.lse.wanted()) {
    const Out<3>& lse = outs.lse;
    const std::ptrdiff_t at = s.batch * lse.stride(0) + place.head * lse.stride(1) + row * lse.stride(2);
    task.lse = static_cast<char*>(lse.data()) + at * static_cast<std::ptrdiff_t>(size_of(lse.dtype()));
    task.lse_stride = lse.stride(2);
  }
}

void AttentionTasks::set_masks(const TaskPlace& place, runtime::Scratch& scratch, kernels::AttentionTask& task) const {
  const auto queries = static_cast<std::size_t>(place.queries);
  auto* begin = scratch.take<std::int64_t>(queries);
  auto* end = scratch.take<std::int64_t>(queries);
  auto* position = scratch.take<std::int64_t>(queries);
  for (std::ptrdiff_t i = 0; i < place.queries; ++i) {
    const VisibleKeys visible = visible_keys(plan_, *place.sequence, place.first_query + i);
    begin[i] = visible.begin;
    end[i] = visible.end;
    position[i] = visible.position;
  }
  task.begin = begin;
  task.end = end;
  task.position = position;
  const MaskData& mask = MaskAccess::data(plan_.options->mask);
  auto* pair_masks = scratch.take<kernels::PairMask>(mask.pairs.size());
  auto* documents = scratch.take<kernels::DocumentIds>(mask.documents.size());
  if (place.sequence->is_gap) return;
  for (std::size_t m = 0; m < mask.pairs.size(); ++m) {
    pair_masks[m] = {.pairs = pairs_of(mask.pairs[m].view, place), .keep = mask.pairs[m].keep};
  }
  for (std::size_t m = 0; m < mask.documents.size(); ++m) documents[m] = documents_of(mask.documents[m], place);
  task.pair_masks = {pair_masks, mask.pairs.size()};
  task.documents = {documents, mask.documents.size()};
}

kernels::AttentionTask AttentionTasks::task(const TaskPlace& place, runtime::Scratch& scratch) const {
  const AttentionOptions& options = *plan_.options;
  kernels::AttentionTask task = operands(place);
  set_outputs(place, task);
  set_masks(place, scratch, task);
  if (options.sink.wanted()) {
    task.has_sink = true;
    task.sink = of_head(options.sink, place.head);
  }
  if (dropout_) {
    task.dropout = {
        .rule = &*dropout_, .batch = place.sequence->index, .head = place.head, .first_query = place.first_query};
  }
  return task;
}

}  // namespace attn::ops
