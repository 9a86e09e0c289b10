// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention_backward_bf16.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_backward_bf16.cpp"
#include <hwy/foreach_target.h>  // must come before whatever includes highway.h
#include <hwy/highway.h>

#include "kernels/attention_backward_pairs-inl.hpp"
#include "kernels/attention_backward_run-inl.hpp"
#include "kernels/dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {

#if HWY_TARGET <= HWY_AVX3
// Calls f with the run of the call's products.
template <class F>
auto with_run(const BackwardCall& call, const F& f) {
  return call.bf16 == base::Bf16Products::tiles ? f(Backward<PairGrads<TileUnit>>(call))
                                                : f(Backward<PairGrads<DotUnit>>(call));
}
double run_begin_queries(const BackwardCall& call, const BackwardQueries& x, std::byte* state) {
  return with_run(call, [&](const auto& run) { return run.begin(x, state); });
}
void run_begin_keys(const BackwardCall& call, const BackwardKeys& x, std::byte* state) {
  with_run(call, [&](const auto& run) { run.begin(x, state); });
}
void run_pair(const BackwardCall& call, const BackwardQueries& x, std::byte* query_state, const BackwardKeys& y,
              std::byte* key_state, const BiasSum* sum, std::byte* work) {
  with_run(call, [&](const auto& run) { run.pair(x, query_state, y, key_state, work, sum); });
}
void run_end_queries(const BackwardCall& call, const BackwardQueries& x, std::byte* state) {
  with_run(call, [&](const auto& run) { run.end(x, state); });
}
void run_end_keys(const BackwardCall& call, const BackwardKeys& x, std::byte* state) {
  with_run(call, [&](const auto& run) { run.end(x, state); });
}
#else
constexpr char kNone[] = "this instruction set has no products of bf16";
double run_begin_queries(const BackwardCall&, const BackwardQueries&, std::byte*) { HWY_ABORT("%s", kNone); }
void run_begin_keys(const BackwardCall&, const BackwardKeys&, std::byte*) { HWY_ABORT("%s", kNone); }
void run_pair(const BackwardCall&, const BackwardQueries&, std::byte*, const BackwardKeys&, std::byte*, const BiasSum*,
              std::byte*) {
  HWY_ABORT("%s", kNone);
}
void run_end_queries(const BackwardCall&, const BackwardQueries&, std::byte*) { HWY_ABORT("%s", kNone); }
void run_end_keys(const BackwardCall&, const BackwardKeys&, std::byte*) { HWY_ABORT("%s", kNone); }
#endif

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn::kernels {

HWY_EXPORT(run_begin_queries);
HWY_EXPORT(run_begin_keys);
HWY_EXPORT(run_pair);
HWY_EXPORT(run_end_queries);
HWY_EXPORT(run_end_keys);

double begin_queries_bf16(const BackwardCall& call, const BackwardQueries& queries, std::byte* state) noexcept {
  return ATTN_DISPATCH(run_begin_queries, call.target)(call, queries, state);
}
void begin_keys_bf16(const BackwardCall& call, const BackwardKeys& keys, std::byte* state) noexcept {
  ATTN_DISPATCH(run_begin_keys, call.target)(call, keys, state);
}
void backward_pair_bf16(const BackwardCall& call, const BackwardQueries& queries, std::byte* query_state,
                        const BackwardKeys& keys, std::byte* key_state, const BiasSum* sum, std::byte* work) noexcept {
  ATTN_DISPATCH(run_pair, call.target)(call, queries, query_state, keys, key_state, sum, work);
}
void end_queries_bf16(const BackwardCall& call, const BackwardQueries& queries, std::byte* state) noexcept {
  ATTN_DISPATCH(run_end_queries, call.target)(call, queries, state);
}
void end_keys_bf16(const BackwardCall& call, const BackwardKeys& keys, std::byte* state) noexcept {
  ATTN_DISPATCH(run_end_keys, call.target)(call, keys, state);
}

}  // namespace attn::kernels
#endif  // HWY_ONCE
