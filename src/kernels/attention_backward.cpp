// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention_backward.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/convert.hpp"
#include "kernels/attention_backward_state.hpp"
#include "kernels/attention_block.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_backward.cpp"
#include <hwy/foreach_target.h>  // must come before whatever includes highway.h
#include <hwy/highway.h>

#include "kernels/attention_backward_block-inl.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/rows-inl.hpp"

#ifndef ATTN_KERNELS_ATTENTION_BACKWARD_ONCE
#define ATTN_KERNELS_ATTENTION_BACKWARD_ONCE
namespace attn::kernels {
namespace {

constexpr std::ptrdiff_t kPartQueries = 144;
constexpr std::ptrdiff_t kPartKeys = 3 * kBackwardBlockKeys;

}  // namespace
}  // namespace attn::kernels
#endif  // ATTN_KERNELS_ATTENTION_BACKWARD_ONCE

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {

template <class T>
class Backward {
  using D = hn::ScalableTag<T>;
  static constexpr std::ptrdiff_t kLanes = kTile<D>;

 public:
  explicit Backward(const BackwardCall& call)
      : call_(call), n_(call, kLanes, static_cast<std::ptrdiff_t>(hn::MaxLanes(D()))) {}

  double begin(const BackwardQueries& x, std::byte* memory) const {
    const QueryState<T> s(n_, x.forward.queries, memory);
    load_padded(x.forward.q, x.forward.queries, n_.dim_qk, n_.row_qk, s.q);
    load_padded(x.grad_out, x.forward.queries, n_.dim_v, n_.row_v, s.grad_out);
    double dsink = 0;
    for (std::ptrdiff_t t = 0; t < s.tiles; ++t) dsink += begin_tile(x, s, t);
    return dsink;
  }

  void begin(const BackwardKeys& x, std::byte* memory) const {
    const KeyState<T> s(n_, x.keys, memory);
    load_padded(x.k, x.keys, n_.dim_qk, n_.row_qk, s.k);
    load_padded(x.v, x.keys, n_.dim_v, n_.row_v, s.v);
    *s.is_finite =
        all_finite(D(), s.k, n_.row_qk, x.keys, n_.dim_qk) && all_finite(D(), s.v, n_.row_v, x.keys, n_.dim_v);
    std::fill_n(s.dk, x.keys * n_.row_qk, T{0});
    std::fill_n(s.dv, x.keys * n_.row_v, T{0});
  }

  void pair(const BackwardQueries& x, std::byte* query_memory, const BackwardKeys& y, std::byte* key_memory,
            std::byte* work_memory, const BiasSum* bias_sum) const {
    const QueryState<T> s(n_, x.forward.queries, query_memory);
    const KeyState<T> keys(n_, y.keys, key_memory);
    const BackwardWork<T> work(n_, work_memory);
    std::fill_n(work.zeros, kLanes, T{0});
    for (std::ptrdiff_t t = 0; t < s.tiles; t += kJoinedTiles) {
      for (std::ptrdiff_t k0 = y.first; k0 < y.first + y.keys; k0 += kBackwardBlockKeys) {
        const std::int64_t k1 = std::min(k0 + kBackwardBlockKeys, y.first + y.keys);
        std::ptrdiff_t count = 0;
        BackwardBlock<T> blocks[kJoinedTiles];
        for (std::ptrdiff_t joined = t; joined < std::min(t + kJoinedTiles, s.tiles); ++joined) {
          const TileSpan& span = s.span[joined];
          // From a multiple of 4, where the dropout generator's calls begin, and to one where there are keys.
          const std::int64_t begin = std::max<std::int64_t>(k0, span.begin / 4 * 4);
          const std::int64_t end = std::min<std::int64_t>(k1, round_up(span.end, 4));
          if (begin >= end || span.begin >= k1 || span.end <= k0) continue;
          const bool is_cut = span.all_begin > begin || span.all_end < end;
          blocks[count] = {.x = &x,
                           .s = &s,
                           .keys = &keys,
                           .work = work.of_tile(count),
                           .tile = joined,
                           .place = place_of(x, joined, begin, end - begin),
                           .row = begin - y.first,
                           .hides = is_cut || hides_pairs(x.forward) || x.forward.bias.wanted()};
          ++count;
        }
        BackwardBlocks<T>(call_, n_).run({blocks, static_cast<std::size_t>(count)}, bias_sum);
      }
    }
  }

  void end(const BackwardQueries& x, std::byte* memory) const {
    if (!x.dq.wanted()) return;
    const QueryState<T> s(n_, x.forward.queries, memory);
    T scale[kLanes];
    std::fill_n(scale, kLanes, static_cast<T>(call_.scale));
    for (std::ptrdiff_t t = 0; t < s.tiles; ++t) {
      const PairBlock place = place_of(x, t, 0, 0);
      const T* tile = s.dq_tile + t * kLanes * n_.dim_qk;
      if (!call_.adds) {
        store_tile(D(), tile, kLanes, scale, x.dq, place.first_query, place.queries, n_.dim_qk, s.spare);
        continue;
      }
      for (std::ptrdiff_t i = 0; i < place.queries; ++i) {
        for (std::ptrdiff_t c = 0; c < n_.dim_qk; ++c) s.spare[c] = tile[c * kLanes + i];
        put_row(s.spare, scale[i], n_.dim_qk, x.dq, place.first_query + i);
      }
    }
  }

  void end(const BackwardKeys& x, std::byte* memory) const {
    const KeyState<T> s(n_, x.keys, memory);
    for (std::ptrdiff_t j = 0; j < x.keys; ++j) {
      if (x.dk.wanted()) put_row(s.dk + j * n_.row_qk, static_cast<T>(call_.scale), n_.dim_qk, x.dk, j);
      if (x.dv.wanted()) put_row(s.dv + j * n_.row_v, T{1}, n_.dim_v, x.dv, j);
    }
  }

 private:
  static PairBlock place_of(const BackwardQueries& x, std::ptrdiff_t tile, std::ptrdiff_t first_key,
                            std::ptrdiff_t keys) {
    return {.first_query = tile * kLanes,
            .queries = std::min(kLanes, x.forward.queries - tile * kLanes),
            .first_key = first_key,
            .keys = keys,
            .lanes = kLanes};
  }

  // Rows of m, zeros without one, into rows that are `row` apart.
  static void load_padded(const Matrix& m, std::ptrdiff_t count, std::ptrdiff_t dim, std::ptrdiff_t row, T* dst) {
    if (!m.wanted() || row != dim) std::fill_n(dst, count * row, T{0});
    if (!m.wanted()) return;
    const bool is_dense = m.dtype == dtype_of<T> && m.column_stride == 1;
    for (std::ptrdiff_t r = 0; r < count; ++r) {
      if (is_dense) {
        std::copy_n(element_of<T>(m, r, 0), dim, dst + r * row);
      } else {
        load_row(D(), m, r, 0, dim, dst + r * row);
      }
    }
  }

  // Stores factor * row, or adds it to what is there. `row` changes.
  void put_row(T* row, T factor, std::ptrdiff_t dim, const MutableMatrix& out, std::ptrdiff_t r) const {
    // Adding 0 turns -0 into +0, so that skipping hidden keys and adding their zeros agree in every bit.
    for (std::ptrdiff_t c = 0; c < dim; ++c) row[c] = row[c] * factor + T{0};
    if (out.dtype == dtype_of<T> && out.column_stride == 1) {
      T* to = static_cast<T*>(out.data) + r * out.row_stride;
      if (!call_.adds) std::fill_n(to, dim, T{0});
      for (std::ptrdiff_t c = 0; c < dim; ++c) to[c] += row[c];
      return;
    }
    if (call_.adds) {
      for (std::ptrdiff_t c = 0; c < dim; ++c) {
        row[c] += base::load_as<T>(out.dtype, out.data, r * out.row_stride + c * out.column_stride);
      }
    }
    store_row(D(), row, dim, out, r);
  }

  static double number(const Column& column, std::ptrdiff_t i) {
    return column.dtype == DType::none ? 0 : base::load_as<double>(column.dtype, column.data, i * column.stride);
  }

  // One row of a matrix.
  static Matrix row_of(Matrix m, std::ptrdiff_t r) {
    m.data = static_cast<const char*>(m.data) + m.at_row(r) * static_cast<std::ptrdiff_t>(size_of(m.dtype));
    return m;
  }
  static Matrix rows_of(const T* rows, std::ptrdiff_t stride) {
    return {.dtype = dtype_of<T>, .data = rows, .row_stride = stride, .column_stride = 1};
  }

  double begin_tile(const BackwardQueries& x, const QueryState<T>& s, std::ptrdiff_t t) const {
    const AttentionTask& task = x.forward;
    const PairBlock place = place_of(x, t, 0, 0);
    load_tile(D(), rows_of(s.q, n_.row_qk), place.first_query, place.queries, 0, n_.dim_qk,
              static_cast<T>(call_.scale * (task.softcap == 0 ? kLog2OfE : 1)), kLanes, kLanes, s.spare,
              s.q_tile + t * kLanes * n_.dim_qk);
    load_tile(D(), rows_of(s.grad_out, n_.row_v), place.first_query, place.queries, 0, n_.dim_v, T{1}, kLanes, kLanes,
              s.spare, s.grad_out_tile + t * kLanes * n_.dim_v);
    std::fill_n(s.dq_tile + t * kLanes * n_.dim_qk, kLanes * n_.dim_qk, T{0});
    const std::int64_t *begin = task.begin + place.first_query, *end = task.end + place.first_query;
    s.span[t] = {.begin = *std::min_element(begin, begin + place.queries),
                 .all_begin = *std::max_element(begin, begin + place.queries),
                 .all_end = *std::min_element(end, end + place.queries),
                 .end = *std::max_element(end, end + place.queries)};
    T* minus_lse = s.minus_lse + t * kLanes;
    T* minus_delta = s.minus_delta + t * kLanes;
    std::fill_n(minus_lse, kLanes, -std::numeric_limits<T>::infinity());
    std::fill_n(minus_delta, kLanes, T{0});
    double dsink = 0;
    for (std::ptrdiff_t i = 0; i < place.queries; ++i) {
      const std::ptrdiff_t row = place.first_query + i;
      const double lse = number(x.lse, row);
      if (lse != -std::numeric_limits<double>::infinity()) minus_lse[i] = static_cast<T>(-lse * kLog2OfE);
      minus_delta[i] = static_cast<T>(number(x.grad_lse, row)) - delta(x, s, row);
      if (task.sinks != nullptr && task.sinks[0] != -std::numeric_limits<double>::infinity()) {
        dsink += std::exp(task.sinks[0] - lse) * static_cast<double>(minus_delta[i]);
      }
    }
    s.span[t].is_finite = all_finite(D(), s.q + place.first_query * n_.row_qk, n_.row_qk, place.queries, n_.dim_qk) &&
                          all_finite(D(), s.grad_out + place.first_query * n_.row_v, n_.row_v, place.queries, n_.dim_v);
    return dsink;
  }

  // The row's sum of weight * dW, which is out . grad_out. A row that saw no key has none, whatever grad_out says.
  T delta(const BackwardQueries& x, const QueryState<T>& s, std::ptrdiff_t row) const {
    if (!x.grad_out.wanted()) return 0;
    load_padded(row_of(x.out, row), 1, n_.dim_v, n_.row_v, s.spare);
    if (std::all_of(s.spare, s.spare + n_.dim_v, [](T y) { return y == 0; })) return 0;
    return dot(D(), s.spare, s.grad_out + row * n_.row_v, n_.row_v);
  }

  const BackwardCall& call_;
  BackwardSizes n_;
};

std::ptrdiff_t vector_lanes(DType compute) {
  return static_cast<std::ptrdiff_t>(compute == DType::f64 ? hn::MaxLanes(hn::ScalableTag<double>())
                                                           : hn::MaxLanes(hn::ScalableTag<float>()));
}
std::ptrdiff_t tile_lanes(DType compute) { return kVectors * vector_lanes(compute); }

// Calls f with the run of the call's compute type.
template <class F>
auto with_run(const BackwardCall& call, const F& f) {
  return call.compute == DType::f64 ? f(Backward<double>(call)) : f(Backward<float>(call));
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

BackwardSizes sizes_of(const BackwardCall& call) {
  return BackwardSizes(call, ATTN_DISPATCH(tile_lanes, call.target)(call.compute),
                       ATTN_DISPATCH(vector_lanes, call.target)(call.compute));
}

}  // namespace

BackwardParts backward_parts(const BackwardCall& call) noexcept {
  const std::ptrdiff_t tile = sizes_of(call).lanes;
  return {.tile_queries = tile, .queries = round_up(kPartQueries, tile), .keys = kPartKeys};
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
  return ATTN_DISPATCH(run_begin_queries, call.target)(call, queries, state);
}
void begin_keys(const BackwardCall& call, const BackwardKeys& keys, std::byte* state) noexcept {
  ATTN_DISPATCH(run_begin_keys, call.target)(call, keys, state);
}
void backward_pair(const BackwardCall& call, const BackwardQueries& queries, std::byte* query_state,
                   const BackwardKeys& keys, std::byte* key_state, std::byte* work) noexcept {
  ATTN_DISPATCH(run_pair, call.target)(call, queries, query_state, keys, key_state, work, nullptr);
}
void bias_pair(const BackwardCall& call, const BackwardQueries& queries, std::byte* query_state,
               const BackwardKeys& keys, std::byte* key_state, const BiasSum& sum, std::byte* work) noexcept {
  ATTN_DISPATCH(run_pair, call.target)(call, queries, query_state, keys, key_state, work, &sum);
}
void end_queries(const BackwardCall& call, const BackwardQueries& queries, std::byte* state) noexcept {
  ATTN_DISPATCH(run_end_queries, call.target)(call, queries, state);
}
void end_keys(const BackwardCall& call, const BackwardKeys& keys, std::byte* state) noexcept {
  ATTN_DISPATCH(run_end_keys, call.target)(call, keys, state);
}

}  // namespace attn::kernels
#endif  // HWY_ONCE
