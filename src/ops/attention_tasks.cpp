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

// Sequences of so few queries have their heads' rows side by side in one task where they share a kv head, so that keys
// and values are read once for the group.
constexpr std::ptrdiff_t kStackedQueries = 32;
// In sequences of so few queries each chunk of the keys is a task: without that a single head would keep one thread
// busy.
constexpr std::ptrdiff_t kChunkedQueries = 64;

using kernels::kChunkKeys;

// Rows of the place's heads, `first` on in each.
template <class View>
auto rows_of_heads(const View& view, const TaskPlace& place, std::ptrdiff_t batch, std::ptrdiff_t first) {
  auto rows = rows_of(view, batch, place.head, first);
  if (place.heads > 1) {
    rows.head_rows = place.queries;
    rows.head_stride = view.stride(1);
  }
  return rows;
}

// The same of a bias or pair mask, whose extents of 1 are broadcast.
kernels::Matrix pairs_of(const In<4>& view, const TaskPlace& place) {
  const auto at = [&](int d, std::ptrdiff_t i) { return view.extent(d) == 1 ? 0 : i; };
  kernels::Matrix pairs = rows_of(view, at(0, place.sequence->index), at(1, place.head), at(2, place.first_query));
  if (view.extent(2) == 1) pairs.row_stride = 0;
  if (view.extent(3) == 1) pairs.column_stride = 0;
  if (place.heads > 1) {
    pairs.head_rows = place.queries;
    pairs.head_stride = view.extent(1) == 1 ? 0 : view.stride(1);
  }
  return pairs;
}

bool is_all_bf16(const AttentionPlan& plan) {
  const Out<4>& out = plan.outs->out;
  return plan.q.dtype() == DType::bf16 && plan.k.dtype() == DType::bf16 && plan.v.dtype() == DType::bf16 &&
         out.wanted() && out.dtype() == DType::bf16;
}

kernels::DocumentIds documents_of(const In<2>& ids, const TaskPlace& place) {
  const std::ptrdiff_t at = ids.extent(0) == 1 ? 0 : place.sequence->index * ids.stride(0);
  return {.dtype = ids.dtype(), .data = advanced(ids.data(), ids.dtype(), at), .stride = ids.stride(1)};
}

}  // namespace

AttentionTasks::AttentionTasks(const AttentionPlan& plan, std::int64_t target, int threads, base::Bf16Products bf16)
    : plan_(plan), target_(target), bf16_(is_all_bf16(plan) ? bf16 : base::Bf16Products::widened) {
  const kernels::AttentionTiles tiles =
      kernels::attention_tiles(target, plan.compute, std::max(plan.q.extent(3), plan.v.extent(3)), bf16_);
  const std::ptrdiff_t heads = plan.q.extent(1);
  std::ptrdiff_t rows = 0;
  for (const Sequence& s : plan.sequences) rows += s.queries * heads;
  // Large tasks share widened keys and values; smaller ones keep every thread busy.
  const std::ptrdiff_t share = rows / (threads * kTasksPerThread) / tiles.queries * tiles.queries;
  task_queries_ = tiles.task_queries;
  block_queries_ = threads == 1 ? tiles.task_queries : std::clamp(share, tiles.queries, tiles.task_queries);
  for (const Sequence& s : plan.sequences) add_group(s);
  const Dropout& dropout = plan.options->dropout;
  if (dropout.p > 0) dropout_.emplace(dropout.p, dropout.seed, dropout.offset);
}

void AttentionTasks::add_group(const Sequence& s) {
  Group group{.first = count_, .queries = std::min(block_queries_, s.queries), .partial = partial_size_};
  if (s.queries > 0 && s.queries <= kStackedQueries) {
    group.queries = s.queries;
    group.heads = std::clamp<std::ptrdiff_t>(task_queries_ / s.queries, 1, plan_.group);
  }
  if (s.queries > 0) group.blocks = (s.queries + group.queries - 1) / group.queries;
  const std::ptrdiff_t kv_heads = plan_.q.extent(1) / plan_.group;
  group.head_blocks = kv_heads * ((plan_.group + group.heads - 1) / group.heads);
  if (s.queries <= kChunkedQueries) group.chunks = std::max<std::ptrdiff_t>(1, (s.keys + kChunkKeys - 1) / kChunkKeys);
  const std::ptrdiff_t places = group.blocks * group.head_blocks;
  if (group.chunks > 1) {
    for (std::ptrdiff_t i = 0; i < places; ++i) merges_.push_back(count_ + i * group.chunks);
    partial_size_ += places * group.chunks * partial_size(group.heads * group.queries);
  }
  count_ += places * group.chunks;
  groups_.push_back(group);
}

std::ptrdiff_t AttentionTasks::partial_size(std::ptrdiff_t rows) const {
  return kernels::partial_size(rows, kernels::value_rows(plan_.v.extent(3), bf16_));
}

TaskPlace AttentionTasks::place(std::ptrdiff_t i) const {
  const auto after = std::upper_bound(groups_.begin(), groups_.end(), i,
                                      [](std::ptrdiff_t task, const Group& group) { return task < group.first; });
  const auto group = std::prev(after);
  const Sequence& sequence = plan_.sequences[static_cast<std::size_t>(group - groups_.begin())];
  const std::ptrdiff_t local = (i - group->first) / group->chunks;
  const std::ptrdiff_t first = (group->blocks - 1 - local / group->head_blocks) * group->queries;
  const std::ptrdiff_t head_block = local % group->head_blocks;
  const std::ptrdiff_t of_kv_head = (plan_.group + group->heads - 1) / group->heads;
  const std::ptrdiff_t in_group = head_block % of_kv_head * group->heads;
  return {.sequence = &sequence,
          .head = head_block / of_kv_head * plan_.group + in_group,
          .first_query = first,
          .queries = std::min(group->queries, sequence.queries - first),
          .heads = std::min(group->heads, plan_.group - in_group),
          .chunk = (i - group->first) % group->chunks,
          .chunks = group->chunks,
          .partial = group->partial + local * group->chunks * partial_size(group->heads * group->queries)};
}

std::size_t AttentionTasks::partial_bytes() const {
  return static_cast<std::size_t>(partial_size_) * size_of(plan_.compute);
}

kernels::AttentionTask AttentionTasks::operands(const TaskPlace& place) const {
  const Sequence& s = *place.sequence;
  const std::ptrdiff_t kv_head = place.head / plan_.group;
  kernels::AttentionTask task{.queries = place.rows(),
                              .keys = s.keys,
                              .dim_qk = plan_.q.extent(3),
                              .dim_v = plan_.v.extent(3),
                              .head_queries = place.heads > 1 ? place.queries : 0,
                              .q = rows_of_heads(plan_.q, place, s.batch, s.first_query + place.first_query),
                              .k = rows_of(plan_.k, s.batch, kv_head, s.first_key),
                              .v = rows_of(plan_.v, s.batch, kv_head, s.first_key),
                              .scale = plan_.scale,
                              .softcap = plan_.options->softcap.value_or(0),
                              .bf16 = bf16_};
  if (place.chunks > 1) {
    task.key_begin = place.chunk * kChunkKeys;
    task.key_end = std::min(task.key_begin + kChunkKeys, s.keys);
  }
  if (plan_.options->bias.wanted() && !s.is_gap) task.bias = pairs_of(plan_.options->bias, place);
  return task;
}

std::size_t AttentionTasks::kernel_bytes(const TaskPlace& place) const {
  kernels::AttentionTask task = operands(place);
  static constexpr double kAny = 0;
  if (plan_.options->alibi.wanted()) task.alibi_slopes = &kAny;
  task.weights.dtype = plan_.outs->weights.wanted() ? plan_.outs->weights.dtype() : DType::none;
  task.scores.dtype = plan_.outs->scores.wanted() ? plan_.outs->scores.dtype() : DType::none;
  return kernels::attention_scratch_bytes(target_, plan_.compute, task);
}

std::size_t AttentionTasks::scratch_bytes(const TaskPlace& place) const {
  using runtime::Scratch;
  const MaskData& mask = MaskAccess::data(plan_.options->mask);
  return kernel_bytes(place) + 3 * Scratch::padded<std::int64_t>(static_cast<std::size_t>(place.rows())) +
         2 * Scratch::padded<double>(static_cast<std::size_t>(place.heads)) +
         Scratch::padded<kernels::PairMask>(mask.pairs.size()) +
         Scratch::padded<kernels::DocumentIds>(mask.documents.size());
}

void AttentionTasks::set_outputs(const TaskPlace& place, kernels::AttentionTask& task) const {
  const AttentionOutputs& outs = *plan_.outs;
  const Sequence& s = *place.sequence;
  const std::ptrdiff_t row = s.first_query + place.first_query;
  if (outs.out.wanted()) task.out = rows_of_heads(outs.out, place, s.batch, row);
  if (outs.weights.wanted()) task.weights = rows_of_heads(outs.weights, place, s.batch, row);
  if (outs.scores.wanted()) task.scores = rows_of_heads(outs.scores, place, s.batch, row);
  task.score_stage = outs.score_stage;
  task.columns = plan_.k.extent(2);
  task.first_column = s.first_key;
  if (outs.lse.wanted()) {
    const Out<3>& lse = outs.lse;
    const std::ptrdiff_t at = s.batch * lse.stride(0) + place.head * lse.stride(1) + row * lse.stride(2);
    task.lse = {.dtype = lse.dtype(),
                .data = static_cast<char*>(lse.data()) + at * static_cast<std::ptrdiff_t>(size_of(lse.dtype())),
                .row_stride = lse.stride(2),
                .head_rows = place.heads > 1 ? place.queries : 0,
                .head_stride = lse.stride(1)};
  }
}

void AttentionTasks::set_heads(const TaskPlace& place, runtime::Scratch& scratch, kernels::AttentionTask& task) const {
  const auto of_heads = [&](const In<1>& view) -> const double* {
    auto* values = scratch.take<double>(static_cast<std::size_t>(place.heads));
    if (!view.wanted()) return nullptr;
    for (std::ptrdiff_t h = 0; h < place.heads; ++h) {
      values[h] = base::load_as<double>(view.dtype(), view.data(), (place.head + h) * view.stride(0));
    }
    return values;
  };
  task.alibi_slopes = of_heads(plan_.options->alibi);
  task.sinks = of_heads(plan_.options->sink);
}

void AttentionTasks::set_masks(const TaskPlace& place, runtime::Scratch& scratch, kernels::AttentionTask& task) const {
  const auto rows = static_cast<std::size_t>(place.rows());
  auto* begin = scratch.take<std::int64_t>(rows);
  auto* end = scratch.take<std::int64_t>(rows);
  auto* position = scratch.take<std::int64_t>(rows);
  set_visible_keys(plan_, *place.sequence, place.first_query, place.queries, {position, begin, end});
  for (std::ptrdiff_t row = place.queries; row < place.rows(); row += place.queries) {  // the other heads
    std::copy_n(begin, place.queries, begin + row);
    std::copy_n(end, place.queries, end + row);
    std::copy_n(position, place.queries, position + row);
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
  kernels::AttentionTask task = operands(place);
  set_outputs(place, task);
  set_heads(place, scratch, task);
  set_masks(place, scratch, task);
  if (dropout_) {
    task.dropout = {
        .rule = &*dropout_, .batch = place.sequence->index, .head = place.head, .first_query = place.first_query};
  }
  return task;
}

}  // namespace attn::ops
