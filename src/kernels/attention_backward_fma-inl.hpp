// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set, by kernels/attention_backward.cpp.
#if defined(ATTN_KERNELS_ATTENTION_BACKWARD_FMA_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_KERNELS_ATTENTION_BACKWARD_FMA_INL_HPP
#undef ATTN_KERNELS_ATTENTION_BACKWARD_FMA_INL_HPP
#else
#define ATTN_KERNELS_ATTENTION_BACKWARD_FMA_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>

#include "kernels/attention_backward_block-inl.hpp"
#include "kernels/attention_backward_rows-inl.hpp"
#include "kernels/attention_backward_state.hpp"
#include "kernels/attention_backward_tile-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// The backward's products by multiply-adds of Number, to which all operands are turned.
template <class Number>
class FmaGrads {
  using D = hn::ScalableTag<Number>;
  static constexpr std::ptrdiff_t kLanes = kTile<D>;

 public:
  using T = Number;
  using Block = BackwardBlock<T>;
  // Blocks begin at multiples of 4 keys, where the dropout generator's calls begin.
  static constexpr std::ptrdiff_t kStep = 4;

  FmaGrads(const BackwardCall&, const BackwardSizes& sizes) : n_(sizes) {}

  static void load(const BackwardCall& call, const BackwardSizes& n, const BackwardQueries& x, const QueryState<T>& s) {
    const AttentionTask& task = x.forward;
    const double unit = task.softcap == 0 ? kLog2OfE : 1;
    load_padded(D(), task.q, task.queries, n.dim_qk, n.row_qk, s.q);
    load_padded(D(), x.grad_out, task.queries, n.dim_v, n.row_v, s.grad_out);
    for (std::ptrdiff_t t = 0; t < s.tiles; ++t) {
      const std::ptrdiff_t first = t * kLanes, queries = std::min(kLanes, task.queries - first);
      load_tile(D(), rows_of(s.q, n.row_qk), first, queries, 0, n.dim_qk, static_cast<T>(call.scale * unit), kLanes,
                kLanes, s.spare, s.q_tile + t * kLanes * n.dim_qk);
      load_tile(D(), rows_of(s.grad_out, n.row_v), first, queries, 0, n.dim_v, T{1}, kLanes, kLanes, s.spare,
                s.grad_out_tile + t * kLanes * n.dim_v);
    }
  }

  static void load(const BackwardSizes& n, const BackwardKeys& x, const KeyState<T>& s) {
    load_padded(D(), x.k, x.keys, n.dim_qk, n.row_qk, s.k);
    load_padded(D(), x.v, x.keys, n.dim_v, n.row_v, s.v);
    *s.is_finite = all_finite(D(), s.k, n.row_qk, x.keys, n.dim_qk) && all_finite(D(), s.v, n.row_v, x.keys, n.dim_v);
  }

  static bool is_finite(const BackwardSizes& n, const BackwardQueries&, const QueryState<T>& s, std::ptrdiff_t first,
                        std::ptrdiff_t queries) {
    return all_finite(D(), s.q + first * n.row_qk, n.row_qk, queries, n.dim_qk) &&
           all_finite(D(), s.grad_out + first * n.row_v, n.row_v, queries, n.dim_v);
  }

  // A row of grad_out, padded; may lie in `spare`.
  static const T* grad_out_row(const BackwardSizes& n, const BackwardQueries&, const QueryState<T>& s,
                               std::ptrdiff_t row, T*) {
    return s.grad_out + row * n.row_v;
  }

  // Into the block's weights: products of its keys with its queries, and `start`.
  template <Finish kFinish>
  void scores(const Block& b, const T* start) const {
    products<kFinish>(b, b.keys->k + b.row * n_.row_qk, n_.row_qk, b.s->q_tile + b.tile * kLanes * n_.dim_qk, n_.dim_qk,
                      start, b.work.weights);
  }
  // Into the block's ds: products of its values with the derivatives by its outputs, and `start`.
  template <Finish kFinish>
  void weight_grads(const Block& b, const T* start) const {
    products<kFinish>(b, b.keys->v + b.row * n_.row_v, n_.row_v, b.s->grad_out_tile + b.tile * kLanes * n_.dim_v,
                      n_.dim_v, start, b.work.ds);
  }

  void keep_weights(const Block&) const {}
  void keep_ds(const Block&) const {}

  // `queries` of the block's tile and of those that follow it.
  void add_to_keys(const Block& b, std::ptrdiff_t queries, KeyGrad grad) const {
    const bool is_dv = grad == KeyGrad::dv;
    const std::ptrdiff_t stride = is_dv ? n_.row_v : n_.row_qk;
    const T* pairs = !is_dv ? b.work.ds : b.drops() ? b.work.dropped : b.work.weights;
    const T* rows = (is_dv ? b.s->grad_out : b.s->q) + b.place.first_query * stride;
    T* sums = (is_dv ? b.keys->dv : b.keys->dk) + b.row * stride;
    const auto add = b.selects() ? add_queries<true, D> : add_queries<false, D>;
    add(D(), pairs, b.work.visible, b.place.keys, rows, queries,
        round_up(is_dv ? n_.dim_v : n_.dim_qk, n_.vector_lanes), stride, sums);
  }

  void add_to_queries(const Block& b) const {
    const T* k = b.keys->k + b.row * n_.row_qk;
    T* sums = b.s->dq_tile + b.tile * kLanes * n_.rows_dq;
    if (b.selects()) {
      add_keys<kVectors, true>(D(), k, n_.row_qk, b.place.keys, b.work.ds, b.work.visible, n_.dim_qk, sums);
      return;
    }
    with_width(D(), b.place.queries, [&](auto wide) HWY_ATTR {
      add_keys<decltype(wide)::value, false>(D(), k, n_.row_qk, b.place.keys, b.work.ds, b.work.visible, n_.dim_qk,
                                             sums);
    });
  }

 private:
  // For as many vectors as the tile has queries.
  template <Finish kFinish>
  void products(const Block& b, const T* rows, std::ptrdiff_t stride, const T* tile, std::ptrdiff_t dim, const T* start,
                T* to) const {
    with_width(D(), b.place.queries, [&](auto wide) HWY_ATTR {
      dot_block<decltype(wide)::value, kFinish>(D(), rows, stride, b.place.keys, tile, dim, start, b.work.weights, to);
    });
  }

  const BackwardSizes& n_;
};

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
