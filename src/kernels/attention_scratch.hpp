// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/attention.hpp"

namespace attn::kernels {

// A multiple of every kernel's group of keys.
constexpr std::ptrdiff_t kBlockKeys = 96;

// Where everything of a task lies in its scratch. With a null base it only counts bytes. `lanes` is the width of its
// tiles, `vector_lanes` of a vector.
template <class T>
struct TaskScratch {
  TaskScratch(const AttentionTask& task, std::ptrdiff_t lanes, std::ptrdiff_t vector_lanes, std::byte* scratch)
      : base(scratch), tiles((task.queries + lanes - 1) / lanes), plane_bytes(kBlockKeys * (vector_lanes > 8 ? 2 : 1)) {
    const std::ptrdiff_t rows = tiles * lanes, pairs = kBlockKeys * lanes;
    q = take<T>(rows * task.dim_qk);
    o = take<T>(rows * task.dim_v);
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
    spare = take<T>(vector_lanes * std::max({task.dim_qk, task.dim_v, kBlockKeys}));
    vectors = take<VectorSpan>(rows / vector_lanes);
    visible =
        take<std::uint8_t>(plane_bytes * lanes / vector_lanes + 8);  // a mask is loaded from 8 bytes, whatever its size
    if (std::min(task.keys, task.key_end) - task.key_begin > kChunkKeys) {
      total.o = take<T>(rows * task.dim_v);
      total.reference = take<T>(rows);
      total.sum = take<T>(rows);
    }
    if (!reads_in_place(task.k)) k = take<T>(kBlockKeys * task.dim_qk);
    if (!reads_in_place(task.v)) v = take<T>(kBlockKeys * task.dim_v);
  }
  static bool reads_in_place(const Matrix& m) { return m.dtype == dtype_of<T> && m.column_stride == 1; }

  // Which keys the queries of one vector see: some of begin .. end, each of them all of all_begin .. all_end.
  struct VectorSpan {
    std::int64_t begin, all_begin, all_end, end;
  };

  std::byte* base;
  std::size_t bytes = 0;
  std::ptrdiff_t tiles, plane_bytes;
  T *q, *o, *reference, *limit, *sum, *factor, *p, *bias = nullptr, *position = nullptr, *slope = nullptr, *spare;
  VectorSpan* vectors;
  std::uint8_t* visible;
  struct Total {  // of the chunks before this one, laid out as o, reference and sum
    T *o = nullptr, *reference = nullptr, *sum = nullptr;
  } total;
  T *k = nullptr, *v = nullptr;

 private:
  template <class U>
  U* take(std::ptrdiff_t count) {
    U* at = base == nullptr ? nullptr : reinterpret_cast<U*>(base + bytes);
    bytes += (static_cast<std::size_t>(count) * sizeof(U) + 63) / 64 * 64;
    return at;
  }
};

}  // namespace attn::kernels
