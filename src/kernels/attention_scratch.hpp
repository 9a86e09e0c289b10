// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/attention.hpp"

namespace attn::kernels {

// Keys of a block, at most: with multiply-adds, and in pairs. Multiples of every kernel's group of keys that divide
// kChunkKeys.
constexpr std::ptrdiff_t kBlockKeys = 144, kPairBlockKeys = 224;

// Keys of the task's blocks: all about as many, since a small one at the end costs nearly as much as a large one. How
// many changes no bit.
inline std::ptrdiff_t block_keys(const AttentionTask& task) {
  const bool in_pairs = task.bf16 != base::Bf16Products::widened;
  const std::ptrdiff_t most = in_pairs ? kPairBlockKeys : kBlockKeys, unit = in_pairs ? 32 : 12;
  const std::ptrdiff_t keys = std::min(task.keys, task.key_end) - task.key_begin;
  if (keys > kChunkKeys) return most;
  const std::ptrdiff_t blocks = std::max<std::ptrdiff_t>((keys + most - 1) / most, 1);
  return std::max((keys + blocks * unit - 1) / (blocks * unit) * unit, unit);
}

// Where everything of a task lies in its scratch. With a null base it only counts bytes. `lanes` is the width of its
// tiles, `vector_lanes` of a vector.
template <class T>
struct TaskScratch {
  TaskScratch(const AttentionTask& task, std::ptrdiff_t lanes, std::ptrdiff_t vector_lanes, std::byte* scratch)
      : base(scratch),
        tiles((task.queries + lanes - 1) / lanes),
        block_keys(kernels::block_keys(task)),
        plane_bytes(block_keys * (vector_lanes > 8 ? 2 : 1)),
        value_rows(kernels::value_rows(task.dim_v, task.bf16)) {
    const std::ptrdiff_t rows = tiles * lanes, pairs = block_keys * lanes;
    const bool in_pairs = task.bf16 != base::Bf16Products::widened;
    if (!in_pairs || task.weights.wanted() || task.scores.wanted()) q = take<T>(rows * task.dim_qk);
    o = take<T>(rows * value_rows);
    reference = take<T>(rows);
    limit = take<T>(rows);
    sum = take<T>(rows);
    factor = take<T>(lanes);
    p = take<T>(pairs);
    if (task.bias.wanted()) bias = take<T>(pairs);
    if (task.alibi_slopes != nullptr) {
      position = take<T>(lanes);
      slope = take<T>(lanes);
    }
    spare = take<T>(vector_lanes * std::max({task.dim_qk, value_rows, block_keys}));
    vectors = take<VectorSpan>(rows / vector_lanes);
    visible =
        take<std::uint8_t>(plane_bytes * lanes / vector_lanes + 8);  // a mask is loaded from 8 bytes, whatever its size
    if (std::min(task.keys, task.key_end) - task.key_begin > kChunkKeys) {
      total.o = take<T>(rows * value_rows);
      total.reference = take<T>(rows);
      total.sum = take<T>(rows);
    }
    if (!reads_in_place(task.k)) k = take<T>(block_keys * task.dim_qk);
    if (!reads_in_place(task.v)) v = take<T>(block_keys * task.dim_v);
    if (in_pairs) {
      q_pairs = take<std::uint32_t>(rows * pairs_of(task.dim_qk));
      p_pairs = take<std::uint32_t>(block_keys / 2 * lanes);
      k_pairs = take<std::uint32_t>(block_keys * pairs_of(task.dim_qk));
      v_pairs = take<std::uint32_t>((value_rows - 1) * block_keys / 2);
    }
  }
  // Pairs of bf16 that rows of `dim` take: whole tiles of 16.
  static std::ptrdiff_t pairs_of(std::ptrdiff_t dim) { return (dim + 31) / 32 * 16; }
  static bool reads_in_place(const Matrix& m) { return m.dtype == dtype_of<T> && m.column_stride == 1; }

  // Which keys the queries of one vector see: some of begin .. end, each of them all of all_begin .. all_end.
  struct VectorSpan {
    std::int64_t begin, all_begin, all_end, end;
  };

  std::byte* base;
  std::size_t bytes = 0;
  std::ptrdiff_t tiles, block_keys, plane_bytes, value_rows;
  T *q = nullptr, *o, *reference, *limit, *sum, *factor, *p, *bias = nullptr, *position = nullptr, *slope = nullptr,
    *spare;
  VectorSpan* vectors;
  std::uint8_t* visible;
  struct Total {  // of the chunks before this one, laid out as o, reference and sum
    T *o = nullptr, *reference = nullptr, *sum = nullptr;
  } total;
  T *k = nullptr, *v = nullptr;
  // In pairs: queries [pair of dims][lane], weights [pair of keys][lane], keys [key][pair of dims], values [dim][pair
  // of keys].
  std::uint32_t *q_pairs = nullptr, *p_pairs = nullptr, *k_pairs = nullptr, *v_pairs = nullptr;

 private:
  template <class U>
  U* take(std::ptrdiff_t count) {
    U* at = base == nullptr ? nullptr : reinterpret_cast<U*>(base + bytes);
    bytes += (static_cast<std::size_t>(count) * sizeof(U) + 63) / 64 * 64;
    return at;
  }
};

}  // namespace attn::kernels
