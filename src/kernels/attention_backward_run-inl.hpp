// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set, by the kernels of the backward.
#if defined(ATTN_KERNELS_ATTENTION_BACKWARD_RUN_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_KERNELS_ATTENTION_BACKWARD_RUN_INL_HPP
#undef ATTN_KERNELS_ATTENTION_BACKWARD_RUN_INL_HPP
#else
#define ATTN_KERNELS_ATTENTION_BACKWARD_RUN_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kernels/attention_backward_block-inl.hpp"
#include "kernels/attention_backward_rows-inl.hpp"
#include "kernels/attention_backward_state.hpp"

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// The backward's five calls, whatever multiplies: `Products` is FmaGrads or PairGrads.
template <class Products>
class Backward {
  using T = typename Products::T;
  using D = hn::ScalableTag<T>;
  static constexpr std::ptrdiff_t kLanes = kTile<D>;

 public:
  explicit Backward(const BackwardCall& call)
      : call_(call), n_(call, kLanes, static_cast<std::ptrdiff_t>(hn::MaxLanes(D()))) {}

  double begin(const BackwardQueries& x, std::byte* memory) const {
    const QueryState<T> s(n_, x.forward.queries, memory);
    Products::load(call_, n_, x, s);
    std::fill_n(s.dq_tile, s.tiles * kLanes * n_.rows_dq, T{0});
    double dsink = 0;
    for (std::ptrdiff_t t = 0; t < s.tiles; ++t) dsink += begin_tile(x, s, t);
    return dsink;
  }

  void begin(const BackwardKeys& x, std::byte* memory) const {
    const KeyState<T> s(n_, x.keys, memory);
    Products::load(n_, x, s);
    std::fill_n(s.dk, x.keys * n_.row_qk, T{0});
    std::fill_n(s.dv, x.keys * n_.row_v, T{0});
  }

  void pair(const BackwardQueries& x, std::byte* query_memory, const BackwardKeys& y, std::byte* key_memory,
            std::byte* work_memory, const BiasSum* bias_sum) const {
    const QueryState<T> s(n_, x.forward.queries, query_memory);
    const KeyState<T> keys(n_, y.keys, key_memory);
    const BackwardWork<T> work(n_, work_memory);
    std::fill_n(work.zeros, kLanes, T{0});
    const Products products(call_, n_);
    const BackwardBlocks<Products> run(call_, products);
    for (std::ptrdiff_t t = 0; t < s.tiles; t += n_.joined_tiles) {
      for (std::ptrdiff_t k0 = y.first; k0 < y.first + y.keys; k0 += n_.block_keys) {
        const std::int64_t k1 = std::min(k0 + n_.block_keys, y.first + y.keys);
        std::size_t count = 0;
        BackwardBlock<T> blocks[kMostJoinedTiles];
        for (std::ptrdiff_t joined = t; joined < std::min(t + n_.joined_tiles, s.tiles); ++joined) {
          const TileSpan& span = s.span[joined];
          // From where the products, and the dropout generator's calls, begin, to one of these after the last key.
          const std::int64_t begin = std::max<std::int64_t>(k0, span.begin / Products::kStep * Products::kStep);
          const std::int64_t end = std::min<std::int64_t>(k1, round_up(span.end, Products::kStep));
          if (begin >= end || span.begin >= k1 || span.end <= k0) continue;
          const bool is_cut = span.all_begin > begin || span.all_end < end;
          const PairBlock place = place_of(x, joined, begin, end - begin);
          blocks[count] = {.x = &x,
                           .s = &s,
                           .keys = &keys,
                           .work = work.of_tile(static_cast<std::ptrdiff_t>(count)),
                           .tile = joined,
                           .place = place,
                           .row = begin - y.first,
                           .hides = is_cut || hides_pairs(x.forward) || x.forward.bias.wanted()};
          ++count;
        }
        run.run({blocks, count}, bias_sum);
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
      const T* tile = s.dq_tile + t * kLanes * n_.rows_dq;
      if (!call_.adds) {
        store_tile(D(), tile, kLanes, scale, x.dq, place.first_query, place.queries, n_.dim_qk, s.spare);
        continue;
      }
      for (std::ptrdiff_t i = 0; i < place.queries; ++i) {
        for (std::ptrdiff_t c = 0; c < n_.dim_qk; ++c) s.spare[c] = tile[c * kLanes + i];
        put_row(D(), s.spare, scale[i], n_.dim_qk, true, x.dq, place.first_query + i);
      }
    }
  }

  void end(const BackwardKeys& x, std::byte* memory) const {
    const KeyState<T> s(n_, x.keys, memory);
    const T scale = static_cast<T>(call_.scale);
    for (std::ptrdiff_t j = 0; j < x.keys; ++j) {
      if (x.dk.wanted()) put_row(D(), s.dk + j * n_.row_qk, scale, n_.dim_qk, call_.adds, x.dk, j);
      if (x.dv.wanted()) put_row(D(), s.dv + j * n_.row_v, T{1}, n_.dim_v, call_.adds, x.dv, j);
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

  double begin_tile(const BackwardQueries& x, const QueryState<T>& s, std::ptrdiff_t t) const {
    const AttentionTask& task = x.forward;
    const PairBlock place = place_of(x, t, 0, 0);
    const std::int64_t *begin = task.begin + place.first_query, *end = task.end + place.first_query;
    s.span[t] = {.begin = *std::min_element(begin, begin + place.queries),
                 .all_begin = *std::max_element(begin, begin + place.queries),
                 .all_end = *std::min_element(end, end + place.queries),
                 .end = *std::max_element(end, end + place.queries),
                 .is_finite = Products::is_finite(n_, x, s, place.first_query, place.queries)};
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
    return dsink;
  }

  // The row's sum of weight * dW, which is out . grad_out. A row that saw no key has none, whatever grad_out says.
  T delta(const BackwardQueries& x, const QueryState<T>& s, std::ptrdiff_t row) const {
    if (!x.grad_out.wanted()) return 0;
    load_padded(D(), from_row(x.out, row), 1, n_.dim_v, n_.row_v, s.spare);
    if (std::all_of(s.spare, s.spare + n_.dim_v, [](T y) { return y == 0; })) return 0;
    return dot(D(), s.spare, Products::grad_out_row(n_, x, s, row, s.spare + n_.row_v), n_.row_v);
  }

  const BackwardCall& call_;
  BackwardSizes n_;
};

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
