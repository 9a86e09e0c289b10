// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention_bf16.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_bf16.cpp"
#include <hwy/foreach_target.h>  // must come before whatever includes highway.h
#include <hwy/highway.h>

#include "kernels/attention_bf16-inl.hpp"
#include "kernels/attention_run-inl.hpp"
#include "kernels/dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {

#if HWY_TARGET <= HWY_AVX3
template <class Unit>
void run_or_merge(const AttentionTask& task, const void* partials, std::ptrdiff_t count, std::byte* scratch) {
  TaskRun<PairProducts<Unit>> run(task, scratch);
  partials == nullptr ? run.run() : run.merge(static_cast<const float*>(partials), count);
}

// `partials` null: runs the task.
void run_pairs(const AttentionTask& task, const void* partials, std::ptrdiff_t count, std::byte* scratch) {
  if (task.bf16 == base::Bf16Products::tiles) return run_or_merge<TileUnit>(task, partials, count, scratch);
  run_or_merge<DotUnit>(task, partials, count, scratch);
}

double work(std::ptrdiff_t rounds, base::Bf16Products products) {
  const bool in_tiles = products == base::Bf16Products::tiles;
  in_tiles ? TileUnit::run_registers(rounds) : DotUnit::run_registers(rounds);
  return static_cast<double>(rounds) * (in_tiles ? TileUnit::kRoundFlops : DotUnit::kRoundFlops);
}
#else
double work(std::ptrdiff_t, base::Bf16Products) { HWY_ABORT("this instruction set has no products of bf16"); }
void run_pairs(const AttentionTask&, const void*, std::ptrdiff_t, std::byte*) {
  HWY_ABORT("this instruction set has no products of bf16");
}
#endif

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn::kernels {

HWY_EXPORT(run_pairs);
HWY_EXPORT(work);

double bf16_work(std::ptrdiff_t rounds, base::Bf16Products products, std::int64_t target) noexcept {
  return ATTN_DISPATCH(work, target)(rounds, products);
}

void attention_bf16(std::int64_t target, const AttentionTask& task, std::byte* scratch) noexcept {
  ATTN_DISPATCH(run_pairs, target)(task, nullptr, 0, scratch);
}

void merge_attention_bf16(std::int64_t target, const AttentionTask& task, const void* partials, std::ptrdiff_t count,
                          std::byte* scratch) noexcept {
  ATTN_DISPATCH(run_pairs, target)(task, partials, count, scratch);
}

}  // namespace attn::kernels
#endif  // HWY_ONCE
