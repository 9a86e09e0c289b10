// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "kernels/attention.hpp"

// What the attention kernel does outside its inner loops: bringing operands of any dtype and stride into blocks of the
// compute type T (float or double), and back. Blocks of pairs are key-major: element (key j, lane i) stands at
// j * lanes + i, where lane i is the tile's i-th query.
namespace attn::kernels {

// A tile of queries against a block of keys, as places in the task.
struct PairBlock {
  std::ptrdiff_t first_query = 0, queries = 0;  // rows of the task; lanes beyond `queries` are padding
  std::ptrdiff_t first_key = 0, keys = 0;       // of the sequence
  std::ptrdiff_t lanes = 0;
};

// Rows first .. first + count of m, each of `dim` elements, into rows of dst that are `dim` apart.
template <class T>
void load_rows(const Matrix& m, std::ptrdiff_t first, std::ptrdiff_t count, std::ptrdiff_t dim, T* dst) noexcept;

// Queries as columns: dst[d * lanes + i] = factor * m(first + i, d); padding lanes are 0.
template <class T>
void load_transposed(const Matrix& m, std::ptrdiff_t first, std::ptrdiff_t count, std::ptrdiff_t dim,
                     std::ptrdiff_t lanes, T factor, T* dst) noexcept;

// out(first + i, d) = src[d * lanes + i] * factor[i].
template <class T>
void store_transposed(const T* src, std::ptrdiff_t lanes, const T* factor, const MutableMatrix& out,
                      std::ptrdiff_t first, std::ptrdiff_t count, std::ptrdiff_t dim) noexcept;

// Stores a block of pairs at rows of the task and columns from `first_column`, rounded once.
template <class T>
void store_pairs(const T* src, const PairBlock& block, const MutableMatrix& out, std::ptrdiff_t first_column) noexcept;

// The same value for columns begin .. end of the block's queries.
void fill_pairs(const PairBlock& block, const MutableMatrix& out, std::ptrdiff_t begin, std::ptrdiff_t end,
                double value) noexcept;

// What is added to the scores: bias and ALiBi. A bias of -inf becomes 0 here; hidden_block hides its pair.
template <class T>
void bias_block(const AttentionTask& task, const PairBlock& block, T* dst) noexcept;

// 1 where the pair is hidden, by its row's interval, a pair mask, document ids or a bias of -inf; else 0. Padding lanes
// repeat the last query.
template <class T>
void hidden_block(const AttentionTask& task, const PairBlock& block, T* dst) noexcept;

// Multiplies survivors by 1 / (1 - p) and sets the others to 0.
template <class T>
void drop_block(const AttentionTask& task, const PairBlock& block, T* weights) noexcept;

template <class T>
bool all_finite(const T* rows, std::ptrdiff_t row_stride, std::ptrdiff_t count, std::ptrdiff_t dim) noexcept;

}  // namespace attn::kernels
