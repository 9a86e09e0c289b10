// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/attention_backward.hpp"

// Where everything of the backward's states and work memory lies. With a null base they only count bytes.
namespace attn::kernels {

class Carver {
 public:
  Carver() = default;
  explicit Carver(std::byte* base) : base_(base) {}
  template <class T>
  T* take(std::ptrdiff_t count) {
    T* at = base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + bytes_);
    bytes_ += (static_cast<std::size_t>(count) * sizeof(T) + 63) / 64 * 64;
    return at;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

constexpr std::ptrdiff_t round_up(std::ptrdiff_t n, std::ptrdiff_t step) { return (n + step - 1) / step * step; }

// Which keys the queries of a tile see: some of begin .. end, each of them all of all_begin .. all_end.
struct TileSpan {
  std::int64_t begin = 0, all_begin = 0, all_end = 0, end = 0;
  bool is_finite = true;  // q, grad_out and what came from out and lse
};

// Keys of a block of pairs of queries and keys, which is [keys][lanes of a tile]: a multiple of 4 and 6, and for
// products of pairs of bf16 of 32; and how many tiles are worked on together.
constexpr std::ptrdiff_t kBackwardBlockKeys = 48, kJoinedTiles = 3;
constexpr std::ptrdiff_t kBackwardPairBlockKeys = 96, kJoinedPairTiles = 4;
constexpr std::ptrdiff_t kMostBlockKeys = std::max(kBackwardBlockKeys, kBackwardPairBlockKeys);
constexpr std::ptrdiff_t kMostJoinedTiles = std::max(kJoinedTiles, kJoinedPairTiles);

// Rows of head dims are padded with zeros to an odd number of cache lines: of rows a power of two apart, only a few fit
// the cache at a time. `lanes` is the width of a tile.
struct BackwardSizes {
  BackwardSizes(const BackwardCall& call, std::ptrdiff_t lanes_of_tile, std::ptrdiff_t vector)
      : in_pairs(call.bf16 != base::Bf16Products::widened),
        lanes(lanes_of_tile),
        vector_lanes(vector),
        dim_qk(call.dim_qk),
        dim_v(call.dim_v),
        row_qk(padded(call.dim_qk, call.compute)),
        row_v(padded(call.dim_v, call.compute)),
        rows_dq(in_pairs ? round_up(call.dim_qk, 16) : call.dim_qk),
        pairs_qk(round_up(call.dim_qk, 32) / 2),
        pairs_v(round_up(call.dim_v, 32) / 2),
        block_keys(in_pairs ? kBackwardPairBlockKeys : kBackwardBlockKeys),
        joined_tiles(in_pairs ? kJoinedPairTiles : kJoinedTiles),
        row_pairs(padded(joined_tiles * lanes / 2, DType::f32)) {}
  static std::ptrdiff_t padded(std::ptrdiff_t dim, DType compute) {
    const std::ptrdiff_t line = 64 / static_cast<std::ptrdiff_t>(size_of(compute));
    return ((dim + line - 1) / line | 1) * line;
  }
  // Words from a row of pairs of keys to the next.
  static std::ptrdiff_t key_pairs(std::ptrdiff_t keys) { return padded(round_up(keys, 32) / 2, DType::f32); }

  bool in_pairs;  // bf16 is multiplied in pairs, which are words of 32 bits
  std::ptrdiff_t lanes, vector_lanes, dim_qk, dim_v, row_qk, row_v;
  std::ptrdiff_t rows_dq;            // of a tile of dq: the head dims, or whole registers of them
  std::ptrdiff_t pairs_qk, pairs_v;  // of head dims, in whole registers
  std::ptrdiff_t block_keys, joined_tiles;
  std::ptrdiff_t row_pairs;  // words of a row of a block's pairs of queries
};

template <class T>
struct QueryState {
  QueryState(const BackwardSizes& n, std::ptrdiff_t queries, std::byte* base)
      : carver(base), tiles((queries + n.lanes - 1) / n.lanes) {
    const std::ptrdiff_t rows = tiles * n.lanes;
    span = carver.take<TileSpan>(tiles);
    minus_lse = carver.take<T>(rows);
    minus_delta = carver.take<T>(rows);
    if (n.in_pairs) {
      q_pairs = carver.take<std::uint32_t>(rows * n.pairs_qk);
      grad_out_pairs = carver.take<std::uint32_t>(rows * n.pairs_v);
      q_row_pairs = carver.take<std::uint32_t>(rows / 2 * n.row_qk);
      grad_out_row_pairs = carver.take<std::uint32_t>(rows / 2 * n.row_v);
    } else {
      q = carver.take<T>(rows * n.row_qk);
      grad_out = carver.take<T>(rows * n.row_v);
      q_tile = carver.take<T>(rows * n.dim_qk);
      grad_out_tile = carver.take<T>(rows * n.dim_v);
    }
    dq_tile = carver.take<T>(rows * n.rows_dq);
    spare = carver.take<T>(n.vector_lanes * std::max(n.row_qk, n.row_v));
  }
  Carver carver;
  std::ptrdiff_t tiles;
  TileSpan* span;  // [tiles]
  T* minus_lse;    // [tiles][lanes], in base 2; -inf, which makes every weight 0, for rows without keys and padding
  T* minus_delta;  // [tiles][lanes], plus grad_lse
  T* dq_tile;      // [tiles][rows_dq][lanes], to be multiplied by scale
  T* spare;        // a vector's worth of rows

  T* q = nullptr;              // [queries][row_qk]
  T* grad_out = nullptr;       // [queries][row_v]
  T* q_tile = nullptr;         // [tiles][dim_qk][lanes], so scaled that scores are in base 2 (before a soft-cap: in e)
  T* grad_out_tile = nullptr;  // [tiles][dim_v][lanes]

  // The same as pairs of dims, not scaled, and as pairs of queries.
  std::uint32_t *q_pairs = nullptr, *grad_out_pairs = nullptr;          // [tiles][pairs_qk or pairs_v][lanes]
  std::uint32_t *q_row_pairs = nullptr, *grad_out_row_pairs = nullptr;  // [pairs of queries][row_qk or row_v]
};

template <class T>
struct KeyState {
  KeyState(const BackwardSizes& n, std::ptrdiff_t keys, std::byte* base) : carver(base), count(keys) {
    is_finite = carver.take<bool>(1);
    const std::ptrdiff_t rows = n.in_pairs ? round_up(keys, 32) : keys;
    if (n.in_pairs) {
      k_pairs = carver.take<std::uint32_t>(rows * n.pairs_qk);
      v_pairs = carver.take<std::uint32_t>(rows * n.pairs_v);
      k_columns = carver.take<std::uint32_t>(n.rows_dq * BackwardSizes::key_pairs(keys));
    } else {
      k = carver.take<T>(rows * n.row_qk);
      v = carver.take<T>(rows * n.row_v);
    }
    dk = carver.take<T>(rows * n.row_qk);
    dv = carver.take<T>(rows * n.row_v);
  }
  Carver carver;
  std::ptrdiff_t count;
  bool* is_finite;               // k and v
  T *dk, *dv;                    // [keys][row_qk], [keys][row_v]; dk to be multiplied by scale
  T *k = nullptr, *v = nullptr;  // likewise

  // The same as pairs of dims, and k as pairs of keys.
  std::uint32_t *k_pairs = nullptr, *v_pairs = nullptr;  // [keys][pairs_qk or pairs_v]
  std::uint32_t* k_columns = nullptr;                    // [rows_dq][key_pairs]
};

template <class T>
struct BackwardWork {
  BackwardWork() = default;
  BackwardWork(const BackwardSizes& n, std::byte* base) : carver(base), pairs(n.block_keys * n.lanes) {
    // Joined tiles of pairs are kept as pairs, and need the numbers one after the other.
    const std::ptrdiff_t kept = n.in_pairs ? 1 : n.joined_tiles;
    for (T** block : {&weights, &dropped, &factor, &ds, &slope, &bias}) *block = carver.take<T>(kept * pairs);
    zeros = carver.take<T>(n.lanes);
    spare = carver.take<T>(n.vector_lanes * n.block_keys);
    // A bit a pair, or a byte a vector where that is more; and a mask is loaded from 8 bytes, whatever its size.
    bit_bytes = kMostBlockKeys * n.lanes / std::min<std::ptrdiff_t>(n.vector_lanes, 8) + 8;
    visible = carver.take<std::uint8_t>(n.joined_tiles * bit_bytes);
    if (!n.in_pairs) return;
    tile_words = n.lanes / 2;
    weight_rows = carver.take<std::uint32_t>(n.block_keys * n.row_pairs);
    ds_rows = carver.take<std::uint32_t>(n.block_keys * n.row_pairs);
    ds_pairs = carver.take<std::uint32_t>(n.joined_tiles * pairs / 2);
    products = carver.take<T>(2 * 32 * 32);
    rows = carver.take<T>(std::max(n.block_keys, n.lanes) * std::max(n.row_qk, n.row_v));
  }
  // What a joined tile has of it.
  BackwardWork of_tile(std::ptrdiff_t tile) const {
    BackwardWork own = *this;
    own.visible += tile * bit_bytes;
    if (tile_words != 0) {
      own.weight_rows += tile * tile_words;
      own.ds_rows += tile * tile_words;
      own.ds_pairs += tile * pairs / 2;
      return own;
    }
    for (T** block : {&own.weights, &own.dropped, &own.factor, &own.ds, &own.slope, &own.bias}) *block += tile * pairs;
    return own;
  }
  Carver carver;
  std::ptrdiff_t pairs = 0, bit_bytes = 0, tile_words = 0;
  // [joined tiles][keys][lanes]
  T *weights = nullptr, *dropped = nullptr, *factor = nullptr, *ds = nullptr, *slope = nullptr, *bias = nullptr;
  T* zeros = nullptr;               // [lanes]
  T* spare = nullptr;               // a vector's worth of rows of keys
  std::uint8_t* visible = nullptr;  // [joined tiles]: bits

  // Weights, after dropout, and ds, rounded to bf16.
  std::uint32_t *weight_rows = nullptr, *ds_rows = nullptr;  // [keys][joined tiles][pairs of queries]
  std::uint32_t* ds_pairs = nullptr;                         // [joined tiles][pairs of keys][lanes]
  T* products = nullptr;                                     // of two groups of 32 keys and 32 queries
  T* rows = nullptr;                                         // of q, k or grad_out, one after the other
};

}  // namespace attn::kernels
