// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/observer.hpp>
#include <optional>

#include "base/convert.hpp"
#include "ops/attention_plan.hpp"
#include "ops/attention_tasks.hpp"
#include "ops/mask_data.hpp"
#include "runtime/context_access.hpp"

namespace attn {
namespace {

void run(const ops::AttentionPlan& plan, Context& context) {
  const runtime::Isa& isa = runtime::ContextAccess::isa(context);
  const std::int64_t target = isa.target;
  const ops::AttentionTasks tasks(plan, target, context.threads(), isa.bf16);
  runtime::ScratchPool& pool = runtime::ContextAccess::scratch(context);
  std::optional<runtime::Scratch> shared;
  std::byte* partials = nullptr;
  if (tasks.merges() > 0) partials = shared.emplace(pool, tasks.partial_bytes()).take<std::byte>(tasks.partial_bytes());
  const std::size_t size = size_of(plan.compute);
  const auto partial_of = [&](const ops::TaskPlace& place, std::ptrdiff_t chunk) {
    return partials + static_cast<std::size_t>(place.partial + chunk * tasks.partial_size(place.rows())) * size;
  };
  runtime::Executor& executor = runtime::ContextAccess::executor(context);
  executor.run(tasks.count(), [&](std::ptrdiff_t i) {
    const ops::TaskPlace place = tasks.place(i);
    runtime::Scratch scratch(pool, tasks.scratch_bytes(place));
    kernels::AttentionTask task = tasks.task(place, scratch);
    if (place.chunks > 1) task.partial = partial_of(place, place.chunk);
    kernels::attention(target, plan.compute, task, scratch.take<std::byte>(tasks.kernel_bytes(place)));
  });
  if (tasks.merges() == 0) return;
  executor.run(tasks.merges(), [&](std::ptrdiff_t i) {
    const ops::TaskPlace place = tasks.merge(i);
    runtime::Scratch scratch(pool, tasks.scratch_bytes(place));
    const kernels::AttentionTask task = tasks.task(place, scratch);
    auto* kernel_scratch = scratch.take<std::byte>(tasks.kernel_bytes(place));
    kernels::merge_attention(target, plan.compute, task, partial_of(place, 0), place.chunks, kernel_scratch);
  });
}

}  // namespace

void attention(In<4> q, const KeyValue& kv, const AttentionOutputs& outs, const AttentionOptions& options,
               Context& context) {
  AttentionObserver* observer = context.observer();
  AttentionOutputs wanted = outs;
  const ops::AttentionPlan plan = ops::plan_attention("attention", q, kv, wanted, options);
  Tensor lse;  // for the observer, where the caller wants none
  if (observer != nullptr && !outs.lse.wanted()) {
    const std::ptrdiff_t shape[] = {q.extent(0), q.extent(1), q.extent(2)};
    lse = Tensor::empty(plan.compute, shape, context.memory());
    wanted.lse = lse;
  }
  Tensor kept;  // of q, where the output takes its place
  if (observer != nullptr && wanted.out.wanted() && wanted.out.data() == q.data()) {
    kept = Tensor::adopt(q.dtype(), const_cast<void*>(q.data()), q.extents().n, q.strides().n, nullptr).clone();
  }
  run(plan, context);
  if (observer != nullptr) {
    const In<4> seen = kept.has_value() ? In<4>(kept) : q;
    observer->on_attention(AttentionCall{.q = seen, .kv = kv, .lse = wanted.lse, .options = options});
  }
}

Status check_attention(In<4> q, const KeyValue& kv, const AttentionOutputs& outs,
                       const AttentionOptions& options) noexcept {
  try {
    (void)ops::plan_attention("attention", q, kv, outs, options);
    return Status();
  } catch (const Error& error) {
    return Status(error);
  } catch (const std::bad_alloc& error) {
    return Status(error);
  }
}

Description describe_attention(In<4> q, const KeyValue& kv, const AttentionOutputs& outs,
                               const AttentionOptions& options, Context& context) {
  const ops::AttentionPlan plan = ops::plan_attention("describe_attention", q, kv, outs, options);
  const runtime::Isa& isa = runtime::ContextAccess::isa(context);
  const std::int64_t target = isa.target;
  const ops::AttentionTasks tasks(plan, target, context.threads(), isa.bf16);
  const kernels::AttentionTiles tiles =
      kernels::attention_tiles(target, plan.compute, std::max(plan.q.extent(3), plan.v.extent(3)), tasks.bf16());
  std::size_t largest = 0;
  for (std::ptrdiff_t i = 0; i < tasks.count(); ++i) largest = std::max(largest, tasks.scratch_bytes(tasks.place(i)));
  const auto at_once = static_cast<std::size_t>(std::min<std::ptrdiff_t>(context.threads(), tasks.count()));
  const auto is_copied = [&](const In<4>& m) { return m.dtype() != plan.compute || m.stride(3) != 1; };
  const bool in_pairs = tasks.bf16() != base::Bf16Products::widened;
  return {.kernel = std::string("queries-in-lanes online softmax") + base::kernel_suffix(tasks.bf16()),
          .isa = context.isa(),
          .threads = context.threads(),
          .tile_q = static_cast<int>(tiles.queries),
          .tile_k = static_cast<int>(tiles.keys),
          .tasks = tasks.count(),
          .scratch_bytes = at_once * largest + tasks.partial_bytes(),
          .copies_k = in_pairs ? kv.k().stride(3) != 1 || q.extent(3) % 32 != 0 : is_copied(kv.k()),
          .copies_v = in_pairs || is_copied(kv.v())};
}

}  // namespace attn
