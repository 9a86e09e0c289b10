// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention.hpp"

#include "kernels/attention_bf16.hpp"
#include "kernels/attention_scratch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention.cpp"
#include <hwy/foreach_target.h>  // must come before whatever includes highway.h
#include <hwy/highway.h>

#include "kernels/attention_fma-inl.hpp"
#include "kernels/attention_run-inl.hpp"
#include "kernels/dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {

void run_f32(const AttentionTask& task, std::byte* scratch) { TaskRun<FmaProducts<float>>(task, scratch).run(); }
void run_f64(const AttentionTask& task, std::byte* scratch) { TaskRun<FmaProducts<double>>(task, scratch).run(); }

void merge_f32(const AttentionTask& task, const void* partials, std::ptrdiff_t count, std::byte* scratch) {
  TaskRun<FmaProducts<float>>(task, scratch).merge(static_cast<const float*>(partials), count);
}
void merge_f64(const AttentionTask& task, const void* partials, std::ptrdiff_t count, std::byte* scratch) {
  TaskRun<FmaProducts<double>>(task, scratch).merge(static_cast<const double*>(partials), count);
}

std::size_t scratch_bytes(DType compute, const AttentionTask& task) {
  return compute == DType::f64 ? TaskTiles<double>(task, nullptr).mem.bytes : TaskTiles<float>(task, nullptr).mem.bytes;
}

std::ptrdiff_t tile_queries(DType compute) {
  return kVectors * (compute == DType::f64 ? TaskTiles<double>::kLanes : TaskTiles<float>::kLanes);
}

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn::kernels {

HWY_EXPORT(run_f32);
HWY_EXPORT(run_f64);
HWY_EXPORT(merge_f32);
HWY_EXPORT(merge_f64);
HWY_EXPORT(scratch_bytes);
HWY_EXPORT(tile_queries);

AttentionTiles attention_tiles(std::int64_t target, DType compute, std::ptrdiff_t dim,
                               base::Bf16Products bf16) noexcept {
  const std::ptrdiff_t queries = ATTN_DISPATCH(tile_queries, target)(compute);
  const bool in_pairs = bf16 != base::Bf16Products::widened;
  // Wider heads have more to gain from sharing a block of keys and values among more queries, and so have values that
  // are turned over first.
  const std::ptrdiff_t task_queries = dim >= 128 || in_pairs ? 512 : 256;
  const std::ptrdiff_t keys = in_pairs ? kPairBlockKeys : kBlockKeys;
  return {.queries = queries, .keys = keys, .task_queries = (task_queries + queries - 1) / queries * queries};
}

std::size_t attention_scratch_bytes(std::int64_t target, DType compute, const AttentionTask& task) noexcept {
  return ATTN_DISPATCH(scratch_bytes, target)(compute, task);
}

void attention(std::int64_t target, DType compute, const AttentionTask& task, std::byte* scratch) noexcept {
  if (task.bf16 != base::Bf16Products::widened) return attention_bf16(target, task, scratch);
  if (compute == DType::f64) {
    ATTN_DISPATCH(run_f64, target)(task, scratch);
  } else {
    ATTN_DISPATCH(run_f32, target)(task, scratch);
  }
}

void merge_attention(std::int64_t target, DType compute, const AttentionTask& task, const void* partials,
                     std::ptrdiff_t count, std::byte* scratch) noexcept {
  if (task.bf16 != base::Bf16Products::widened) return merge_attention_bf16(target, task, partials, count, scratch);
  if (compute == DType::f64) {
    ATTN_DISPATCH(merge_f64, target)(task, partials, count, scratch);
  } else {
    ATTN_DISPATCH(merge_f32, target)(task, partials, count, scratch);
  }
}

}  // namespace attn::kernels
#endif  // HWY_ONCE
