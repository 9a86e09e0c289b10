// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/dtype.hpp>
#include <attn/score_stage.hpp>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/philox.hpp"

namespace attn::kernels {

// A matrix of any dtype and strides: rows are tokens, columns the head dim (or, for pairs, queries and keys).
// Broadcast by stride 0. dtype none: not there.
struct Matrix {
  DType dtype = DType::none;
  const void* data = nullptr;
  std::ptrdiff_t row_stride = 0, column_stride = 0;
  bool wanted() const noexcept { return dtype != DType::none; }
};
struct MutableMatrix {
  DType dtype = DType::none;
  void* data = nullptr;
  std::ptrdiff_t row_stride = 0, column_stride = 0;
  bool wanted() const noexcept { return dtype != DType::none; }
};

// A bool for each pair: (i, j) is hidden when it differs from `keep`. Row 0 is the task's first query.
struct PairMask {
  Matrix pairs = {};
  bool keep = true;
};

// Document ids of the keys, i32 or i64: (i, j) is hidden unless the id at query i's position equals that of key j.
struct DocumentIds {
  DType dtype = DType::none;
  const void* data = nullptr;
  std::ptrdiff_t stride = 0;
};

// Dropout of a task's pairs: the rule, and where the task's first query stands in it.
struct DropoutPlace {
  const DropoutRule* rule = nullptr;  // null: off
  std::ptrdiff_t batch = 0, head = 0, first_query = 0;
};

// One piece of attention: some queries of one head against all keys of their sequence. Views and numbers only.
struct AttentionTask {
  std::ptrdiff_t queries = 0, keys = 0, dim_qk = 0, dim_v = 0;
  Matrix q = {}, k = {}, v = {};  // from the task's first query, and from key 0 of the sequence
  double scale = 1;
  double softcap = 0;  // 0: none
  // Query i sees key j only if begin[i] <= j < end[i] <= keys; `position[i]` is where it stands among the keys.
  const std::int64_t *begin = nullptr, *end = nullptr, *position = nullptr;
  std::span<const PairMask> pair_masks = {};
  std::span<const DocumentIds> documents = {};
  Matrix bias = {};
  bool has_alibi = false, has_sink = false;
  double alibi_slope = 0, sink = 0;
  DropoutPlace dropout = {};

  MutableMatrix out = {};
  void* lse = nullptr;  // of the compute type; null: not wanted
  std::ptrdiff_t lse_stride = 0;
  // Whole rows: keys of the sequence stand at columns first_column .. first_column + keys of `columns`; the others, and
  // those at or beyond `readable_keys`, get 0 (weights) or -inf (scores).
  MutableMatrix weights = {}, scores = {};
  std::ptrdiff_t columns = 0, first_column = 0;
  ScoreStage score_stage = ScoreStage::scaled;
};

// Sizes that the kernel for an instruction set works in.
struct AttentionTiles {
  std::ptrdiff_t queries = 0;       // of a tile: vector lanes are queries
  std::ptrdiff_t keys = 0;          // of a block
  std::ptrdiff_t task_queries = 0;  // a task should have at most so many; a multiple of `queries`
};
// `dim` is the larger head dim.
AttentionTiles attention_tiles(std::int64_t target, DType compute, std::ptrdiff_t dim) noexcept;

// Scratch that a task needs, in bytes, a multiple of 64. `compute` is f32 or f64.
std::size_t attention_scratch_bytes(std::int64_t target, DType compute, const AttentionTask& task) noexcept;

// Computes the task. Scratch is aligned to 64 bytes and as large as attention_scratch_bytes says. Keys at or beyond
// task.keys are never read.
//
// Order of operations, the same for every row whatever tile it is in. Scores are in base 2: the query is multiplied by
// scale * log2(e); a score is one chain of fused multiply-adds over the head dim in order, from 0; then soft-cap, bias
// and mask. Keys go in groups (of 4 or 6, by instruction set) that start at multiples of 96; where a group's largest
// score exceeds the row's reference by more than 8, the reference becomes that score rounded up to an integer, and what
// was summed shrinks by a power of two, exactly (results below 2^-126 are 0). A weight is 2^(score - reference); the
// sum and each output element are one chain over the keys in order. Time O(queries * visible keys * (dim_qk + dim_v)).
void attention(std::int64_t target, DType compute, const AttentionTask& task, std::byte* scratch) noexcept;

}  // namespace attn::kernels
