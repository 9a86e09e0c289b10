// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set, by kernels/attention_backward_bf16.cpp.
#if defined(ATTN_KERNELS_ATTENTION_BACKWARD_PAIRS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_KERNELS_ATTENTION_BACKWARD_PAIRS_INL_HPP
#undef ATTN_KERNELS_ATTENTION_BACKWARD_PAIRS_INL_HPP
#else
#define ATTN_KERNELS_ATTENTION_BACKWARD_PAIRS_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/attention_backward_block-inl.hpp"
#include "kernels/attention_backward_pair_rows-inl.hpp"
#include "kernels/attention_backward_rows-inl.hpp"
#include "kernels/attention_backward_state.hpp"
#include "kernels/attention_backward_tile-inl.hpp"
#include "kernels/attention_units-inl.hpp"
#include "kernels/exp-inl.hpp"

#if HWY_TARGET <= HWY_AVX3
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR ",avx512bf16")
namespace attn::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// The backward's products in pairs of bf16, by `Unit`: DotUnit or TileUnit. All five are one of two forms of it, rows
// by columns: for scores and derivatives by weights, pairs of dims of keys and values by those of queries and grad_out;
// for the gradients, pairs of queries (dk, dv) or keys (dq). Blocks of pairs of queries and keys are f32 until they
// are rounded for these. Lanes without a query take part in the sums: they repeat the last query, with weights of 0.
template <class Unit>
class PairGrads {
  using D = hn::ScalableTag<float>;
  static constexpr std::ptrdiff_t kLanes = kTile<D>;
  static constexpr std::ptrdiff_t kGroup = 32;  // keys, and queries, whose products are made together

 public:
  using T = float;
  using Block = BackwardBlock<T>;
  static constexpr std::ptrdiff_t kStep = kGroup;

  PairGrads(const BackwardCall& call, const BackwardSizes& sizes) : call_(call), n_(sizes) {}

  static void load(const BackwardCall&, const BackwardSizes& n, const BackwardQueries& x, const QueryState<T>& s) {
    const AttentionTask& task = x.forward;
    for (std::ptrdiff_t t = 0; t < s.tiles; ++t) {
      const std::ptrdiff_t first = t * kLanes, queries = std::min(kLanes, task.queries - first);
      for (std::ptrdiff_t lane = 0; lane < kLanes; lane += 16) {
        const std::ptrdiff_t row = std::min(lane, queries - 1);
        load_query_pairs(task.q, first + row, queries - row, n.dim_qk, 0, kLanes,
                         s.q_pairs + first * n.pairs_qk + lane);
        load_query_pairs(x.grad_out, first + row, queries - row, n.dim_v, 0, kLanes,
                         s.grad_out_pairs + first * n.pairs_v + lane);
      }
    }
    load_row_pairs(task.q, task.queries, s.tiles * kLanes, n.dim_qk, n.row_qk, s.q_row_pairs);
    load_row_pairs(x.grad_out, task.queries, s.tiles * kLanes, n.dim_v, n.row_v, s.grad_out_row_pairs);
  }

  static void load(const BackwardSizes& n, const BackwardKeys& x, const KeyState<T>& s) {
    const std::ptrdiff_t rows = round_up(x.keys, kGroup);
    copy_pairs(x.k, 0, x.keys, rows, n.dim_qk, n.pairs_qk, s.k_pairs);
    copy_pairs(x.v, 0, x.keys, rows, n.dim_v, n.pairs_v, s.v_pairs);
    load_value_pairs(x.k, 0, x.keys, n.dim_qk, BackwardSizes::key_pairs(x.keys), s.k_columns);
    *s.is_finite = are_finite(x.k, 0, x.keys, n.dim_qk) && are_finite(x.v, 0, x.keys, n.dim_v);
    // Keys that fill the last group have sums too.
    std::fill_n(s.dk + x.keys * n.row_qk, (rows - x.keys) * n.row_qk, 0.0f);
    std::fill_n(s.dv + x.keys * n.row_v, (rows - x.keys) * n.row_v, 0.0f);
  }

  static bool is_finite(const BackwardSizes& n, const BackwardQueries& x, const QueryState<T>&, std::ptrdiff_t first,
                        std::ptrdiff_t queries) {
    return are_finite(x.forward.q, first, queries, n.dim_qk) && are_finite(x.grad_out, first, queries, n.dim_v);
  }

  static const T* grad_out_row(const BackwardSizes& n, const BackwardQueries& x, const QueryState<T>&,
                               std::ptrdiff_t row, T* spare) {
    load_padded(D(), from_row(x.grad_out, row), 1, n.dim_v, n.row_v, spare);
    return spare;
  }

  template <Finish kFinish>
  void scores(const Block& b, const T* start) const {
    const double unit = b.x->forward.softcap == 0 ? kLog2OfE : 1;
    products<kFinish>(b, {.data = b.keys->k_pairs + b.row * n_.pairs_qk, .stride = n_.pairs_qk},
                      b.s->q_pairs + b.tile * kLanes * n_.pairs_qk, static_cast<float>(call_.scale * unit), start,
                      b.work.weights);
  }
  template <Finish kFinish>
  void weight_grads(const Block& b, const T* start) const {
    products<kFinish>(b, {.data = b.keys->v_pairs + b.row * n_.pairs_v, .stride = n_.pairs_v},
                      b.s->grad_out_pairs + b.tile * kLanes * n_.pairs_v, 1, start, b.work.ds);
  }

  void keep_weights(const Block& b) const {
    const float* weights = b.drops() ? b.work.dropped : b.work.weights;
    narrow_rows(weights, kLanes, b.place.keys, queries_of(b), n_.row_pairs, b.work.weight_rows);
  }
  void keep_ds(const Block& b) const {
    narrow_rows_and_columns(b.work.ds, kLanes, b.place.keys, queries_of(b), n_.row_pairs, b.work.ds_rows,
                            b.work.ds_pairs);
  }

  void add_to_keys(const Block& b, std::ptrdiff_t queries, KeyGrad grad) const {
    const bool is_dv = grad == KeyGrad::dv;
    const std::ptrdiff_t stride = is_dv ? n_.row_v : n_.row_qk, dim = is_dv ? n_.dim_v : n_.dim_qk;
    const std::uint32_t* pairs = is_dv ? b.work.weight_rows : b.work.ds_rows;
    T* sums = (is_dv ? b.keys->dv : b.keys->dk) + b.row * stride;
    if (b.selects()) {
      const Matrix& of = is_dv ? b.x->grad_out : b.x->forward.q;
      load_padded(D(), from_row(of, b.place.first_query), queries, dim, stride, b.work.rows);
      widen_pairs(b, pairs);
      add_queries<true>(D(), b.work.weights, b.work.visible, b.place.keys, b.work.rows, queries,
                        round_up(dim, n_.vector_lanes), stride, sums);
      return;
    }
    const std::uint32_t* rows = (is_dv ? b.s->grad_out_row_pairs : b.s->q_row_pairs) + b.place.first_query / 2 * stride;
    const std::ptrdiff_t count = round_up(queries, kGroup) / 2, keys = round_up(b.place.keys, 16);
    std::ptrdiff_t c = 0;
    const auto add = [&]<int kWide>() {
      unit_.template values<kWide>({.data = pairs, .stride = n_.row_pairs}, rows + c, stride, count, keys, sums + c);
      c += kWide * 16;
    };
    while (c + 48 < dim) add.template operator()<4>();
    while (c + 16 < dim) add.template operator()<2>();
    while (c < dim) add.template operator()<1>();
  }

  void add_to_queries(const Block& b) const {
    T* sums = b.s->dq_tile + b.tile * kLanes * n_.rows_dq;
    if (b.selects()) {
      const auto* k = reinterpret_cast<const bf16*>(b.keys->k_pairs + b.row * n_.pairs_qk);
      load_padded(D(), rows_of(k, 2 * n_.pairs_qk), b.place.keys, n_.dim_qk, n_.row_qk, b.work.rows);
      widen_pairs(b, b.work.ds_rows);
      add_keys<kVectors, true>(D(), b.work.rows, n_.row_qk, b.place.keys, b.work.weights, b.work.visible, n_.dim_qk,
                               sums);
      return;
    }
    const PairRows k{.data = b.keys->k_columns + b.row / 2, .stride = BackwardSizes::key_pairs(b.keys->count)};
    const std::ptrdiff_t count = round_up(b.place.keys, kGroup) / 2;
    if (queries_of(b) == kLanes) {
      unit_.template values<4>(k, b.work.ds_pairs, kLanes, count, n_.rows_dq, sums);
    } else {
      unit_.template values<2>(k, b.work.ds_pairs, kLanes, count, n_.rows_dq, sums);
    }
  }

 private:
  // The block's queries in whole groups.
  static std::ptrdiff_t queries_of(const Block& b) { return round_up(b.place.queries, kGroup); }

  // The rounded pairs as numbers, where the weights were.
  void widen_pairs(const Block& b, const std::uint32_t* pairs) const {
    for (std::ptrdiff_t j = 0; j < b.place.keys; ++j) {
      const auto* row = reinterpret_cast<const bf16*>(pairs + j * n_.row_pairs);
      widen_bf16(D(), row, queries_of(b), b.work.weights + j * kLanes);
    }
  }

  // As dot_block of attention_backward_tile-inl.hpp, with sums multiplied by `factor` before anything is added. Those
  // of a group are multiplied while those of the one before are finished, which does not need the same parts of the
  // processor.
  template <Finish kFinish>
  HWY_NOINLINE void products(const Block& b, const PairRows& rows, const std::uint32_t* columns, float factor,
                             const float* start, float* to) const {
    float *now = b.work.products, *next = now + kGroup * kGroup;
    const std::ptrdiff_t groups = round_up(b.place.keys, kGroup) / kGroup, all = groups * queries_of(b) / kGroup;
    const std::ptrdiff_t pairs = rows.stride;
    const auto rows_at = [&](std::ptrdiff_t i) {
      return PairRows{.data = rows.data + i % groups * kGroup * rows.stride, .stride = rows.stride};
    };
    const auto lane_of = [&](std::ptrdiff_t i) { return i / groups * kGroup; };
    Unit::template begin_scores<2>(rows_at(0), columns, kLanes, pairs);
    Unit::template end_scores<2>(rows_at(0), columns, kLanes, pairs, kGroup, now);
    for (std::ptrdiff_t i = 0; i < all; ++i) {
      const bool is_last = i + 1 == all;
      if (!is_last) Unit::template begin_scores<2>(rows_at(i + 1), columns + lane_of(i + 1), kLanes, pairs);
      const std::ptrdiff_t key = i % groups * kGroup, at = key * kLanes + lane_of(i);
      finish_group<kFinish>(now, std::min(kGroup, b.place.keys - key), factor, start + lane_of(i), b.work.weights + at,
                            to + at);
      if (!is_last) Unit::template end_scores<2>(rows_at(i + 1), columns + lane_of(i + 1), kLanes, pairs, kGroup, next);
      std::swap(now, next);
    }
  }

  template <Finish kFinish>
  static HWY_INLINE void finish_group(const float* sums, std::ptrdiff_t keys, float factor, const float* start,
                                      const float* times, float* to) {
    const D d;
    const auto f = hn::Set(d, factor), start0 = hn::Load(d, start), start1 = hn::Load(d, start + 16);
    for (std::ptrdiff_t j = 0; j < keys; ++j, sums += kGroup, times += kLanes, to += kLanes) {
      auto x0 = hn::MulAdd(hn::Load(d, sums), f, start0), x1 = hn::MulAdd(hn::Load(d, sums + 16), f, start1);
      if constexpr (kFinish == Finish::exp2) {
        x0 = exp2_bounded(d, x0);
        x1 = exp2_bounded(d, x1);
      }
      if constexpr (kFinish == Finish::times) {
        x0 = hn::Mul(x0, hn::Load(d, times));
        x1 = hn::Mul(x1, hn::Load(d, times + 16));
      }
      hn::Store(x0, d, to);
      hn::Store(x1, d, to + 16);
    }
  }

  Unit unit_ = {};
  const BackwardCall& call_;
  const BackwardSizes& n_;
};

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_POP_ATTRIBUTES
#endif  // HWY_TARGET <= HWY_AVX3

#endif
