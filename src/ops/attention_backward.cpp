// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/attention_backward.hpp>

#include "ops/attention_backward_run.hpp"
#include "ops/attention_bias_backward.hpp"
#include "runtime/context_access.hpp"

namespace attn {

void attention_backward(const AttentionOutputGrads& output_grads, const AttentionSaved& saved,
                        const AttentionGrads& grads, const AttentionOptions& options, Context& context) {
  const runtime::Isa& isa = runtime::ContextAccess::isa(context);
  const ops::BackwardPlan plan = ops::plan_backward("attention_backward", output_grads, saved, grads, options, isa);
  runtime::Executor& executor = runtime::ContextAccess::executor(context);
  runtime::ScratchPool& pool = runtime::ContextAccess::scratch(context);
  if (grads.dq.wanted() || grads.dk.wanted() || grads.dv.wanted() || grads.dsink.wanted()) {
    ops::BackwardRun(plan, context.threads()).run(executor, pool);
  }
  if (grads.dbias.wanted()) ops::BiasBackward(plan).run(executor, pool);
}

Status check_attention_backward(const AttentionOutputGrads& output_grads, const AttentionSaved& saved,
                                const AttentionGrads& grads, const AttentionOptions& options) noexcept {
  try {
    (void)ops::plan_backward("attention_backward", output_grads, saved, grads, options, {});
    return Status();
  } catch (const Error& error) {
    return Status(error);
  } catch (const std::bad_alloc& error) {
    return Status(error);
  }
}

Description describe_attention_backward(const AttentionOutputGrads& output_grads, const AttentionSaved& saved,
                                        const AttentionGrads& grads, const AttentionOptions& options,
                                        Context& context) {
  const runtime::Isa& isa = runtime::ContextAccess::isa(context);
  const ops::BackwardPlan plan =
      ops::plan_backward("describe_attention_backward", output_grads, saved, grads, options, isa);
  const ops::BackwardRun run(plan, context.threads());
  const auto threads = static_cast<std::size_t>(context.threads());
  const std::size_t of_bias = grads.dbias.wanted() ? threads * ops::BiasBackward(plan).scratch_bytes() : 0;
  return {.kernel = std::string("weights recomputed from the log-sum-exp") + base::kernel_suffix(plan.call.bf16),
          .isa = context.isa(),
          .threads = context.threads(),
          .tile_q = static_cast<int>(run.sizes().tile_queries),
          .tile_k = static_cast<int>(run.sizes().keys),
          .tasks = run.task_count(),
          .scratch_bytes = std::max(run.scratch_bytes(), of_bias),
          .copies_k = true,
          .copies_v = true};
}

}  // namespace attn
