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

// Rows of head dims are padded with zeros to an odd number of cache lines: of rows a power of two apart, only a few fit
// the cache at a time. `lanes` is the width of a tile.
struct BackwardSizes {
  BackwardSizes(const BackwardCall& call, std::ptrdiff_t lanes_of_tile, std::ptrdiff_t vector)
      : lanes(lanes_of_tile),
        vector_lanes(vector),
        dim_qk(call.dim_qk),
        dim_v(call.dim_v),
        row_qk(padded(call.dim_qk, call.compute)),
        row_v(padded(call.dim_v, call.compute)) {}
  static std::ptrdiff_t padded(std::ptrdiff_t dim, DType compute) {
    const std::ptrdiff_t line = 64 / static_cast<std::ptrdiff_t>(size_of(compute));
    return ((dim + line - 1) / line | 1) * line;
  }
  std::ptrdiff_t lanes, vector_lanes, dim_qk, dim_v, row_qk, row_v;
};

template <class T>
struct QueryState {
  QueryState(const BackwardSizes& n, std::ptrdiff_t queries, std::byte* base)
      : carver(base), tiles((queries + n.lanes - 1) / n.lanes) {
    const std::ptrdiff_t rows = tiles * n.lanes;
    span = carver.take<TileSpan>(tiles);
    minus_lse = carver.take<T>(rows);
    minus_delta = carver.take<T>(rows);
    q = carver.take<T>(rows * n.row_qk);
    grad_out = carver.take<T>(rows * n.row_v);
    q_tile = carver.take<T>(rows * n.dim_qk);
    grad_out_tile = carver.take<T>(rows * n.dim_v);
    dq_tile = carver.take<T>(rows * n.dim_qk);
    spare = carver.take<T>(n.vector_lanes * std::max(n.row_qk, n.row_v));
  }
  Carver carver;
  std::ptrdiff_t tiles;
  TileSpan* span;    // [tiles]
  T* minus_lse;      // [tiles][lanes], in base 2; -inf, which makes every weight 0, for rows without keys and padding
  T* minus_delta;    // [tiles][lanes], plus grad_lse
  T* q;              // [queries][row_qk]
  T* grad_out;       // [queries][row_v]
  T* q_tile;         // [tiles][dim_qk][lanes], so scaled that scores are in base 2 (before a soft-cap: in base e)
  T* grad_out_tile;  // [tiles][dim_v][lanes]
  T* dq_tile;        // [tiles][dim_qk][lanes], to be multiplied by scale
  T* spare;          // a vector's worth of rows
};

template <class T>
struct KeyState {
  KeyState(const BackwardSizes& n, std::ptrdiff_t keys, std::byte* base) : carver(base) {
    is_finite = carver.take<bool>(1);
    k = carver.take<T>(keys * n.row_qk);
    v = carver.take<T>(keys * n.row_v);
    dk = carver.take<T>(keys * n.row_qk);
    dv = carver.take<T>(keys * n.row_v);
  }
  Carver carver;
  bool* is_finite;  // k and v
  T *k, *v;         // [keys][row_qk], [keys][row_v]
  T *dk, *dv;       // likewise; dk to be multiplied by scale
};

// Keys of a block of pairs, which is [keys][lanes of a tile]; a multiple of 4 and 6.
constexpr std::ptrdiff_t kBackwardBlockKeys = 48;

// Tiles that are worked on together.
constexpr std::ptrdiff_t kJoinedTiles = 3;

template <class T>
struct BackwardWork {
  BackwardWork() = default;
  BackwardWork(const BackwardSizes& n, std::byte* base) : carver(base), pairs(kBackwardBlockKeys * n.lanes) {
    for (T** block : {&weights, &dropped, &factor, &ds, &slope, &bias}) *block = carver.take<T>(kJoinedTiles * pairs);
    zeros = carver.take<T>(n.lanes);
    spare = carver.take<T>(n.vector_lanes * kBackwardBlockKeys);
    // A bit a pair, or a byte a vector where that is more; and a mask is loaded from 8 bytes, whatever its size.
    bit_bytes = pairs / std::min<std::ptrdiff_t>(n.vector_lanes, 8) + 8;
    visible = carver.take<std::uint8_t>(kJoinedTiles * bit_bytes);
  }
  // What a joined tile has of it.
  BackwardWork of_tile(std::ptrdiff_t tile) const {
    BackwardWork own = *this;
    for (T** block : {&own.weights, &own.dropped, &own.factor, &own.ds, &own.slope, &own.bias}) *block += tile * pairs;
    own.visible += tile * bit_bytes;
    return own;
  }
  Carver carver;
  std::ptrdiff_t pairs = 0, bit_bytes = 0;
  // [joined tiles][keys][lanes]
  T *weights = nullptr, *dropped = nullptr, *factor = nullptr, *ds = nullptr, *slope = nullptr, *bias = nullptr;
  T* zeros = nullptr;               // [lanes]
  T* spare = nullptr;               // a vector's worth of rows of keys
  std::uint8_t* visible = nullptr;  // [joined tiles]: bits
};

}  // namespace attn::kernels
