// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention_backward.hpp"

#include "kernels/attention_backward_bf16.hpp"
#include "kernels/attention_backward_state.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_backward.cpp"
#include <hwy/foreach_target.h>  // must come before whatever includes highway.h
#include <hwy/highway.h>

#include "kernels/attention_backward_fma-inl.hpp"
#include "kernels/attention_backward_run-inl.hpp"
#include "kernels/dispatch.hpp"

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {

std::ptrdiff_t vector_lanes(DType compute) {
  return static_cast<std::ptrdiff_t>(compute == DType::f64 ? hn::MaxLanes(hn::ScalableTag<double>())
                                                           : hn::MaxLanes(hn::ScalableTag<float>()));
}
std::ptrdiff_t tile_lanes(DType compute) { return kVectors * vector_lanes(compute); }

// Calls f with the run of the call's compute type.
template <class F>
auto with_run(const BackwardCall& call, const F& f) {
  return call.compute == DType::f64 ? f(Backward<FmaGrads<double>>(call)) : f(Backward<FmaGrads<float>>(call));
}
double run_begin_queries(const BackwardCall& call, const BackwardQueries& x, std::byte* state) {
  return with_run(call, [&](const auto& run) { return run.begin(x, state); });
}
void run_begin_keys(const BackwardCall& call, const BackwardKeys& x, std::byte* state) {
  with_run(call, [&](const auto& run) { run.begin(x, state); });
}
void run_pair(const BackwardCall& call, const BackwardQueries& x, std::byte* query_state, const BackwardKeys& y,
              std::byte* key_state, std::byte* work, const BiasSum* sum) {
  with_run(call, [&](const auto& run) { run.pair(x, query_state, y, key_state, work, sum); });
}
void run_end_queries(const BackwardCall& call, const BackwardQueries& x, std::byte* state) {
  with_run(call, [&](const auto& run) { run.end(x, state); });
}
void run_end_keys(const BackwardCall& call, const BackwardKeys& x, std::byte* state) {
  with_run(call, [&](const auto& run) { run.end(x, state); });
}

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn::kernels {

HWY_EXPORT(vector_lanes);
HWY_EXPORT(tile_lanes);
HWY_EXPORT(run_begin_queries);
HWY_EXPORT(run_begin_keys);
HWY_EXPORT(run_pair);
HWY_EXPORT(run_end_queries);
HWY_EXPORT(run_end_keys);

namespace {

// Of a part, at most, with multiply-adds and in pairs. Every part of queries reads and writes the sums by keys, beside
// products that take less time in pairs.
constexpr std::ptrdiff_t kPartQueries = 144, kPairPartQueries = 256;
constexpr std::ptrdiff_t kPartBlocks = 3, kPairPartBlocks = 2;

bool is_in_pairs(const BackwardCall& call) { return call.bf16 != base::Bf16Products::widened; }

BackwardSizes sizes_of(const BackwardCall& call) {
  return BackwardSizes(call, ATTN_DISPATCH(tile_lanes, call.target)(call.compute),
                       ATTN_DISPATCH(vector_lanes, call.target)(call.compute));
}

}  // namespace

BackwardParts backward_parts(const BackwardCall& call) noexcept {
  const BackwardSizes sizes = sizes_of(call);
  return {.tile_queries = sizes.lanes,
          .queries = round_up(is_in_pairs(call) ? kPairPartQueries : kPartQueries, sizes.lanes),
          .keys = (is_in_pairs(call) ? kPairPartBlocks : kPartBlocks) * sizes.block_keys};
}

std::size_t query_state_bytes(const BackwardCall& call, std::ptrdiff_t queries) noexcept {
  if (call.compute == DType::f64) return QueryState<double>(sizes_of(call), queries, nullptr).carver.bytes();
  return QueryState<float>(sizes_of(call), queries, nullptr).carver.bytes();
}

std::size_t key_state_bytes(const BackwardCall& call, std::ptrdiff_t keys) noexcept {
  if (call.compute == DType::f64) return KeyState<double>(sizes_of(call), keys, nullptr).carver.bytes();
  return KeyState<float>(sizes_of(call), keys, nullptr).carver.bytes();
}

std::size_t backward_work_bytes(const BackwardCall& call) noexcept {
  if (call.compute == DType::f64) return BackwardWork<double>(sizes_of(call), nullptr).carver.bytes();
  return BackwardWork<float>(sizes_of(call), nullptr).carver.bytes();
}

double begin_queries(const BackwardCall& call, const BackwardQueries& queries, std::byte* state) noexcept {
  if (is_in_pairs(call)) return begin_queries_bf16(call, queries, state);
  return ATTN_DISPATCH(run_begin_queries, call.target)(call, queries, state);
}
void begin_keys(const BackwardCall& call, const BackwardKeys& keys, std::byte* state) noexcept {
  if (is_in_pairs(call)) return begin_keys_bf16(call, keys, state);
  ATTN_DISPATCH(run_begin_keys, call.target)(call, keys, state);
}
void backward_pair(const BackwardCall& call, const BackwardQueries& queries, std::byte* query_state,
                   const BackwardKeys& keys, std::byte* key_state, std::byte* work) noexcept {
  if (is_in_pairs(call)) return backward_pair_bf16(call, queries, query_state, keys, key_state, nullptr, work);
  ATTN_DISPATCH(run_pair, call.target)(call, queries, query_state, keys, key_state, work, nullptr);
}
void bias_pair(const BackwardCall& call, const BackwardQueries& queries, std::byte* query_state,
               const BackwardKeys& keys, std::byte* key_state, const BiasSum& sum, std::byte* work) noexcept {
  if (is_in_pairs(call)) return backward_pair_bf16(call, queries, query_state, keys, key_state, &sum, work);
  ATTN_DISPATCH(run_pair, call.target)(call, queries, query_state, keys, key_state, work, &sum);
}
void end_queries(const BackwardCall& call, const BackwardQueries& queries, std::byte* state) noexcept {
  if (is_in_pairs(call)) return end_queries_bf16(call, queries, state);
  ATTN_DISPATCH(run_end_queries, call.target)(call, queries, state);
}
void end_keys(const BackwardCall& call, const BackwardKeys& keys, std::byte* state) noexcept {
  if (is_in_pairs(call)) return end_keys_bf16(call, keys, state);
  ATTN_DISPATCH(run_end_keys, call.target)(call, keys, state);
}

}  // namespace attn::kernels
#endif  // HWY_ONCE
