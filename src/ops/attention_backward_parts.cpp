// SPDX-License-Identifier: Apache-2.0
#include "ops/attention_backward_parts.hpp"

#include <algorithm>

#include "ops/attention_backward_check.hpp"
#include "ops/head_rows.hpp"

namespace attn::ops {
namespace {

kernels::Column column_of(const In<3>& view, std::ptrdiff_t batch, std::ptrdiff_t head, std::ptrdiff_t first) {
  if (!view.wanted()) return {};
  const std::ptrdiff_t at = batch * view.stride(0) + head * view.stride(1) + first * view.stride(2);
  return {.dtype = view.dtype(), .data = advanced(view.data(), view.dtype(), at), .stride = view.stride(2)};
}

// What the products are made of, and what is made of them. Of those not wanted nothing is asked.
bool is_all_bf16(const AttentionOutputGrads& output_grads, const AttentionSaved& saved, const AttentionGrads& grads) {
  const auto is_bf16_or_not_wanted = [](const Out<4>& grad) { return !grad.wanted() || grad.dtype() == DType::bf16; };
  return saved.q.dtype() == DType::bf16 && saved.k.dtype() == DType::bf16 && saved.v.dtype() == DType::bf16 &&
         output_grads.out.wanted() && output_grads.out.dtype() == DType::bf16 && is_bf16_or_not_wanted(grads.dq) &&
         is_bf16_or_not_wanted(grads.dk) && is_bf16_or_not_wanted(grads.dv);
}

}  // namespace

BackwardPlan plan_backward(const char* function, const AttentionOutputGrads& output_grads, const AttentionSaved& saved,
                           const AttentionGrads& grads, const AttentionOptions& options, const runtime::Isa& isa) {
  check_backward(function, output_grads, saved, grads, options);
  BackwardPlan plan{.forward = plan_operands(function, saved.q, KeyValue(saved.k, saved.v), options),
                    .output_grads = output_grads,
                    .saved = saved,
                    .grads = grads,
                    .call = {}};
  const bool is_in_bf16 = is_all_bf16(output_grads, saved, grads);
  plan.call = {.target = isa.target,
               .compute = plan.forward.compute,
               .bf16 = is_in_bf16 ? isa.bf16 : base::Bf16Products::widened,
               .dim_qk = saved.q.extent(3),
               .dim_v = saved.v.extent(3),
               .scale = plan.forward.scale,
               .wants_dq = grads.dq.wanted(),
               .wants_dk = grads.dk.wanted(),
               .wants_dv = grads.dv.wanted(),
               .adds = grads.write == GradWrite::add};
  return plan;
}

BackwardCuts::BackwardCuts(const BackwardPlan& plan)
    : plan_(plan), tasks_(plan.forward, plan.call.target, 1), sizes_(kernels::backward_parts(plan.call)) {
  const Sequence full{.queries = sizes_.queries};
  const TaskPlace place{.sequence = &full, .queries = sizes_.queries};
  const std::size_t masks = tasks_.scratch_bytes(place) - tasks_.kernel_bytes(place);
  query_bytes_ = masks + kernels::query_state_bytes(plan.call, sizes_.queries);
  key_bytes_ = kernels::key_state_bytes(plan.call, sizes_.keys);
}

std::vector<BackwardUnit> BackwardCuts::units() const {
  std::vector<BackwardUnit> made;
  std::ptrdiff_t count = 0;
  for (const Sequence& s : plan_.forward.sequences) {
    for (std::ptrdiff_t h = 0; h < plan_.forward.k.extent(1); ++h) {
      made.push_back({.sequence = &s,
                      .kv_head = h,
                      .query_parts = plan_.forward.group * query_parts(s),
                      .key_parts = key_parts(s),
                      .first_part = count});
      count += made.back().query_parts;
    }
  }
  return made;
}

kernels::BackwardQueries BackwardCuts::queries(const BackwardUnit& unit, std::ptrdiff_t part,
                                               runtime::Scratch& scratch) const {
  const std::ptrdiff_t of_head = query_parts(*unit.sequence);
  return queries(*unit.sequence, unit.kv_head * plan_.forward.group + part / of_head, part % of_head, scratch);
}

TaskPlace BackwardCuts::place(const Sequence& s, std::ptrdiff_t head, std::ptrdiff_t part) const {
  const std::ptrdiff_t first = part * sizes_.queries;
  return {.sequence = &s, .head = head, .first_query = first, .queries = std::min(sizes_.queries, s.queries - first)};
}

kernels::BackwardQueries BackwardCuts::queries(const Sequence& s, std::ptrdiff_t head, std::ptrdiff_t part,
                                               runtime::Scratch& scratch) const {
  const TaskPlace at = place(s, head, part);
  const std::ptrdiff_t row = s.first_query + at.first_query;
  kernels::BackwardQueries made{.forward = tasks_.task(at, scratch),
                                .out = rows_of(plan_.saved.out, s.batch, head, row),
                                .lse = column_of(plan_.saved.lse, s.batch, head, row),
                                .grad_lse = column_of(plan_.output_grads.lse, s.batch, head, row)};
  if (plan_.output_grads.out.wanted()) made.grad_out = rows_of(plan_.output_grads.out, s.batch, head, row);
  if (plan_.grads.dq.wanted()) made.dq = rows_of(plan_.grads.dq, s.batch, head, row);
  return made;
}

kernels::BackwardKeys BackwardCuts::keys(const Sequence& s, std::ptrdiff_t kv_head, std::ptrdiff_t part) const {
  const std::ptrdiff_t first = part * sizes_.keys, token = s.first_key + first;
  kernels::BackwardKeys made{.first = first,
                             .keys = std::min<std::ptrdiff_t>(sizes_.keys, s.keys - first),
                             .k = rows_of(plan_.forward.k, s.batch, kv_head, token),
                             .v = rows_of(plan_.forward.v, s.batch, kv_head, token)};
  if (plan_.grads.dk.wanted()) made.dk = rows_of(plan_.grads.dk, s.batch, kv_head, token);
  if (plan_.grads.dv.wanted()) made.dv = rows_of(plan_.grads.dv, s.batch, kv_head, token);
  return made;
}

std::byte* BackwardCuts::query_state(const kernels::BackwardQueries& part, runtime::Scratch& scratch) const {
  return scratch.take<std::byte>(kernels::query_state_bytes(plan_.call, part.forward.queries));
}

std::byte* BackwardCuts::key_state(const kernels::BackwardKeys& part, runtime::Scratch& scratch) const {
  return scratch.take<std::byte>(kernels::key_state_bytes(plan_.call, part.keys));
}

}  // namespace attn::ops
