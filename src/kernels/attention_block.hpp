// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/attention.hpp"

// What the attention kernel does outside its inner loops, a pair of query and key at a time. Blocks of pairs are
// key-major: element (key j, lane i) stands at j * lanes + i, where lane i is the block's i-th query.
namespace attn::kernels {

// Some queries against some keys, as places in the task.
struct PairBlock {
  std::ptrdiff_t first_query = 0, queries = 0;  // rows of the task; lanes beyond `queries` repeat the last
  std::ptrdiff_t first_key = 0, keys = 0;       // of the sequence
  std::ptrdiff_t lanes = 0;                     // of a row of the block: at least `queries`
};

// A bit for each pair, set where the pair is visible. For each vector of `vector_lanes` queries there is a plane with a
// word for each key: a byte, or two where a vector has 16 lanes.
struct PairBits {
  std::uint8_t* data = nullptr;
  std::ptrdiff_t plane_bytes = 0, vector_lanes = 0;
};

// Whether any pair may be hidden by something else than its row's interval.
bool hides_pairs(const AttentionTask& task) noexcept;

// Clears the bits of pairs that a pair mask or document ids hide.
void hide_by_masks(const AttentionTask& task, const PairBlock& block, const PairBits& bits) noexcept;

// Clears the bits of pairs whose bias is -inf.
void hide_by_bias(const AttentionTask& task, const PairBlock& block, const PairBits& bits) noexcept;

// Stores a block of pairs at rows of the task and columns from `first_column`, rounded once.
template <class T>
void store_pairs(const T* src, const PairBlock& block, const MutableMatrix& out, std::ptrdiff_t first_column) noexcept;

// The same value for columns begin .. end of the block's queries.
void fill_pairs(const PairBlock& block, const MutableMatrix& out, std::ptrdiff_t begin, std::ptrdiff_t end,
                double value) noexcept;

// Multiplies survivors by 1 / (1 - p) and sets the others to 0.
template <class T>
void drop_block(const AttentionTask& task, const PairBlock& block, T* weights) noexcept;

}  // namespace attn::kernels
