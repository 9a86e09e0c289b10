// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/dtype.hpp>
#include <attn/score_stage.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "base/bf16_products.hpp"
#include "kernels/philox.hpp"

namespace attn::kernels {

// A matrix of any dtype and strides: rows are tokens, columns the head dim (or, for pairs, queries and keys).
// Broadcast by stride 0. dtype none: not there. With `head_rows`, the rows of several heads follow each other, so many
// of each, and heads are `head_stride` apart.
struct Matrix {
  DType dtype = DType::none;
  const void* data = nullptr;
  std::ptrdiff_t row_stride = 0, column_stride = 0;
  std::ptrdiff_t head_rows = 0, head_stride = 0;
  bool wanted() const noexcept { return dtype != DType::none; }
  std::ptrdiff_t at_row(std::ptrdiff_t r) const noexcept {
    return head_rows == 0 ? r * row_stride : r / head_rows * head_stride + r % head_rows * row_stride;
  }
};
struct MutableMatrix {
  DType dtype = DType::none;
  void* data = nullptr;
  std::ptrdiff_t row_stride = 0, column_stride = 0;
  std::ptrdiff_t head_rows = 0, head_stride = 0;
  bool wanted() const noexcept { return dtype != DType::none; }
  std::ptrdiff_t at_row(std::ptrdiff_t r) const noexcept {
    return head_rows == 0 ? r * row_stride : r / head_rows * head_stride + r % head_rows * row_stride;
  }
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

// Dropout of a task's pairs: the rule, and where the task's first query and head stand in it.
struct DropoutPlace {
  const DropoutRule* rule = nullptr;  // null: off
  std::ptrdiff_t batch = 0, head = 0, first_query = 0;
};

// One piece of attention: some queries of one head, or the same queries of several heads that share their keys, against
// all keys of their sequence or some of them. Views and numbers only.
struct AttentionTask {
  std::ptrdiff_t queries = 0, keys = 0, dim_qk = 0, dim_v = 0;
  std::ptrdiff_t head_queries = 0;  // of `queries`, those of one head; 0: all are of the same
  // Only keys key_begin .. key_end take part: all, or those of one chunk.
  std::ptrdiff_t key_begin = 0, key_end = std::numeric_limits<std::ptrdiff_t>::max();
  Matrix q = {}, k = {}, v = {};  // from the task's first query, and from key 0 of the sequence
  double scale = 1;
  double softcap = 0;  // 0: none
  // Query i sees key j only if begin[i] <= j < end[i] <= keys; `position[i]` is where it stands among the keys.
  const std::int64_t *begin = nullptr, *end = nullptr, *position = nullptr;
  std::span<const PairMask> pair_masks = {};
  std::span<const DocumentIds> documents = {};
  Matrix bias = {};
  const double* alibi_slopes = nullptr;  // of each head; null: no ALiBi
  const double* sinks = nullptr;         // of each head; null: none
  DropoutPlace dropout = {};
  // How bf16 is multiplied by bf16. Other than widened only if q, k, v and out are bf16, and the machine has it.
  base::Bf16Products bf16 = base::Bf16Products::widened;

  MutableMatrix out = {};
  MutableMatrix lse = {};  // one column, of the compute type
  // Whole rows: keys of the sequence stand at columns first_column .. first_column + keys of `columns`; the others, and
  // those at or beyond `readable_keys`, get 0 (weights) or -inf (scores).
  MutableMatrix weights = {}, scores = {};
  std::ptrdiff_t columns = 0, first_column = 0;
  ScoreStage score_stage = ScoreStage::scaled;

  // Not null: what these keys contribute goes here instead of to out and lse, as numbers of the compute type: the
  // outputs [queries][value_rows], not divided by anything, then each query's reference and sum of weights.
  void* partial = nullptr;

  std::ptrdiff_t head_of(std::ptrdiff_t row) const noexcept { return head_queries == 0 ? 0 : row / head_queries; }
};

// Sums over more keys than this are made of chunks: a multiple of every kernel's block of keys.
constexpr std::ptrdiff_t kChunkKeys = 2016;

// Numbers that a query's output takes while it is summed. Products of pairs fill whole tiles of 16 dims, and sum the
// weights, rounded as the values meet them, like one more dim.
constexpr std::ptrdiff_t value_rows(std::ptrdiff_t dim_v, base::Bf16Products bf16) {
  return bf16 == base::Bf16Products::widened ? dim_v : (dim_v + 15) / 16 * 16 + 1;
}

// Numbers of a partial result.
constexpr std::ptrdiff_t partial_size(std::ptrdiff_t queries, std::ptrdiff_t value_rows) {
  return queries * (value_rows + 2);
}

// Sizes that the kernel for an instruction set works in.
struct AttentionTiles {
  std::ptrdiff_t queries = 0;       // of a tile: vector lanes are queries
  std::ptrdiff_t keys = 0;          // of a block, at most
  std::ptrdiff_t task_queries = 0;  // a task should have at most so many; a multiple of `queries`
};
// `dim` is the larger head dim.
AttentionTiles attention_tiles(std::int64_t target, DType compute, std::ptrdiff_t dim,
                               base::Bf16Products bf16 = base::Bf16Products::widened) noexcept;

// Scratch that a task needs, in bytes, a multiple of 64. `compute` is f32 or f64.
std::size_t attention_scratch_bytes(std::int64_t target, DType compute, const AttentionTask& task) noexcept;

// Computes the task. Scratch is aligned to 64 bytes and as large as attention_scratch_bytes says. Keys at or beyond
// task.keys are never read.
//
// Order of operations, the same for every row whatever tile it is in. Scores are in base 2: the query is multiplied by
// scale * log2(e); a score is one chain of fused multiply-adds over the head dim in order, from 0; then soft-cap, bias
// and mask. Keys go in groups (of 4 or 6, by instruction set) that count from the first; where a group's largest
// score exceeds the row's reference by more than 8, the reference becomes that score rounded up to an integer, and what
// was summed shrinks by a power of two, exactly (results below 2^-126 are 0). A weight is 2^(score - reference); the
// sum and each output element are one chain over the keys in order, begun anew from 0 at every multiple of kChunkKeys;
// what the chunks give is brought to a common reference and added in their order. Time O(queries * visible keys *
// (dim_qk + dim_v)).
void attention(std::int64_t target, DType compute, const AttentionTask& task, std::byte* scratch) noexcept;

// The same bits from `count` partial results of the task, a chunk each, which follow each other in the order of their
// keys. References are integers, so that the parts are brought to a common one exactly.
void merge_attention(std::int64_t target, DType compute, const AttentionTask& task, const void* partials,
                     std::ptrdiff_t count, std::byte* scratch) noexcept;

}  // namespace attn::kernels
