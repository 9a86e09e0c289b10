// SPDX-License-Identifier: Apache-2.0
#include "ops/attention_bias_backward.hpp"

#include <algorithm>

#include "base/convert.hpp"

namespace attn::ops {

using runtime::Scratch;

// Of the bias: an entry and a head of it, and a part of queries and of keys.
struct BiasBackward::Part {
  std::ptrdiff_t entry = 0, head = 0, query_part = 0, key_part = 0;
};

namespace {

std::ptrdiff_t parts_of(std::ptrdiff_t extent, std::ptrdiff_t size) { return (extent + size - 1) / size; }

}  // namespace

BiasBackward::BiasBackward(const BackwardPlan& plan) : plan_(plan), call_(plan.call), cuts_(plan) {
  call_.wants_dq = call_.wants_dk = call_.wants_dv = false;
}

std::ptrdiff_t BiasBackward::task_count() const {
  const Out<4>& dbias = plan_.grads.dbias;
  return dbias.extent(0) * dbias.extent(1) * parts_of(dbias.extent(2), cuts_.sizes().queries) *
         parts_of(dbias.extent(3), cuts_.sizes().keys);
}

BiasBackward::Part BiasBackward::part(std::ptrdiff_t task) const {
  const Out<4>& dbias = plan_.grads.dbias;
  const std::ptrdiff_t key_parts = parts_of(dbias.extent(3), cuts_.sizes().keys);
  const std::ptrdiff_t query_parts = parts_of(dbias.extent(2), cuts_.sizes().queries);
  const std::ptrdiff_t row = task / key_parts, matrix = row / query_parts;
  return {.entry = matrix / dbias.extent(1),
          .head = matrix % dbias.extent(1),
          .query_part = row % query_parts,
          .key_part = task % key_parts};
}

// [tile][key][lane of the tile]; one tile, or one key, where the bias is broadcast over queries or keys.
std::ptrdiff_t BiasBackward::sum_count() const {
  const Out<4>& dbias = plan_.grads.dbias;
  return (dbias.extent(2) == 1 ? cuts_.sizes().tile_queries : cuts_.sizes().queries) *
         (dbias.extent(3) == 1 ? 1 : cuts_.sizes().keys);
}

std::size_t BiasBackward::scratch_bytes() const {
  const std::size_t number = size_of(plan_.call.compute);
  return cuts_.query_bytes() + cuts_.key_bytes() + cuts_.work_bytes() +
         Scratch::padded<std::byte>(static_cast<std::size_t>(sum_count()) * number);
}

void BiasBackward::run(runtime::Executor& executor, runtime::ScratchPool& pool) const {
  executor.run(task_count(), [&](std::ptrdiff_t task) {
    if (plan_.call.compute == DType::f64) {
      run_part<double>(part(task), pool);
    } else {
      run_part<float>(part(task), pool);
    }
  });
}

template <class T>
void BiasBackward::run_part(const Part& part, runtime::ScratchPool& pool) const {
  const Out<4>& dbias = plan_.grads.dbias;
  const auto count = static_cast<std::size_t>(sum_count());
  Scratch scratch(pool, Scratch::padded<T>(count));
  T* sum = scratch.take<T>(count);
  std::fill_n(sum, count, T{0});
  for (const Sequence& s : plan_.forward.sequences) {
    if (s.is_gap || (dbias.extent(0) != 1 && s.index != part.entry)) continue;
    for (std::ptrdiff_t h = 0; h < plan_.forward.q.extent(1); ++h) {
      if (dbias.extent(1) == 1 || h == part.head) add_head(part, s, h, sum, pool);
    }
  }
  store(part, sum);
}

template <class T>
void BiasBackward::add_head(const Part& part, const Sequence& s, std::ptrdiff_t head, T* sum,
                            runtime::ScratchPool& pool) const {
  const Out<4>& dbias = plan_.grads.dbias;
  const std::ptrdiff_t lanes = cuts_.sizes().tile_queries, width = dbias.extent(3) == 1 ? 1 : cuts_.sizes().keys;
  const kernels::BiasSum bias_sum{.sum = sum,
                                  .tile_stride = dbias.extent(2) == 1 ? 0 : width * lanes,
                                  .key_stride = dbias.extent(3) == 1 ? 0 : lanes};
  // One part, or all where the bias is broadcast.
  const auto range = [](std::ptrdiff_t extent, std::ptrdiff_t own, std::ptrdiff_t count) {
    return extent == 1 ? std::pair{std::ptrdiff_t{0}, count}
                       : std::pair{std::min(own, count), std::min(own + 1, count)};
  };
  const auto [g_begin, g_end] = range(dbias.extent(2), part.query_part, cuts_.query_parts(s));
  const auto [c_begin, c_end] = range(dbias.extent(3), part.key_part, cuts_.key_parts(s));
  for (std::ptrdiff_t g = g_begin; g < g_end; ++g) {
    Scratch scratch(pool, cuts_.query_bytes() + cuts_.key_bytes() + cuts_.work_bytes());
    std::byte* key_state = scratch.take<std::byte>(cuts_.key_bytes());
    std::byte* work = scratch.take<std::byte>(cuts_.work_bytes());
    const kernels::BackwardQueries queries = cuts_.queries(s, head, g, scratch);
    std::byte* query_state = cuts_.query_state(queries, scratch);
    kernels::begin_queries(call_, queries, query_state);
    for (std::ptrdiff_t c = c_begin; c < c_end; ++c) {
      const kernels::BackwardKeys keys = cuts_.keys(s, head / plan_.forward.group, c);
      kernels::begin_keys(call_, keys, key_state);
      kernels::bias_pair(call_, queries, query_state, keys, key_state, bias_sum, work);
    }
  }
}

template <class T>
void BiasBackward::store(const Part& part, const T* sum) const {
  const Out<4>& dbias = plan_.grads.dbias;
  const kernels::BackwardParts& sizes = cuts_.sizes();
  const std::ptrdiff_t lanes = sizes.tile_queries, width = dbias.extent(3) == 1 ? 1 : sizes.keys;
  const std::ptrdiff_t q0 = part.query_part * sizes.queries, k0 = part.key_part * sizes.keys;
  const std::ptrdiff_t matrix = part.entry * dbias.stride(0) + part.head * dbias.stride(1);
  for (std::ptrdiff_t i = q0; i < std::min(dbias.extent(2), q0 + sizes.queries); ++i) {
    for (std::ptrdiff_t j = k0; j < std::min(dbias.extent(3), k0 + sizes.keys); ++j) {
      const T* pair = sum + ((i - q0) / lanes * width + (j - k0)) * lanes + (i - q0) % lanes;
      // Broadcast over queries: every lane has some of them.
      T total = *pair;
      for (std::ptrdiff_t lane = 1; dbias.extent(2) == 1 && lane < lanes; ++lane) total += pair[lane];
      const std::ptrdiff_t at = matrix + i * dbias.stride(2) + j * dbias.stride(3);
      const T before = plan_.call.adds ? base::load_as<T>(dbias.dtype(), dbias.data(), at) : T{0};
      base::store_as(dbias.dtype(), dbias.data(), at, total + before);
    }
  }
}

}  // namespace attn::ops
