// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set, by the kernels of the backward.
#if defined(ATTN_KERNELS_ATTENTION_BACKWARD_BLOCK_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_KERNELS_ATTENTION_BACKWARD_BLOCK_INL_HPP
#undef ATTN_KERNELS_ATTENTION_BACKWARD_BLOCK_INL_HPP
#else
#define ATTN_KERNELS_ATTENTION_BACKWARD_BLOCK_INL_HPP
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "kernels/attention_backward_state.hpp"
#include "kernels/attention_backward_tile-inl.hpp"
#include "kernels/attention_block.hpp"
#include "kernels/attention_dropout-inl.hpp"
#include "kernels/rows-inl.hpp"
#include "kernels/softcap-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr double kLog2OfE = 1.4426950408889634074;

// A tile of queries against some keys.
template <class T>
struct BackwardBlock {
  const BackwardQueries* x = nullptr;
  const QueryState<T>* s = nullptr;
  const KeyState<T>* keys = nullptr;
  BackwardWork<T> work;
  std::ptrdiff_t tile = 0;
  PairBlock place = {};
  std::ptrdiff_t row = 0;  // its first key's, of the part of keys
  bool hides = false;

  std::ptrdiff_t count() const { return place.keys * place.lanes; }
  bool drops() const { return x->forward.dropout.rule != nullptr; }
  // Whether a sum must leave out hidden pairs, since zero times what is there is not zero.
  bool selects() const { return hides && !(s->span[tile].is_finite && *keys->is_finite); }
};

// The gradients that sum over queries.
enum class KeyGrad { dk, dv };

// What happens to such blocks. `Products` multiplies: FmaGrads or PairGrads.
template <class Products>
class BackwardBlocks {
  using T = typename Products::T;
  using D = hn::ScalableTag<T>;
  static constexpr std::ptrdiff_t kLanes = kTile<D>;

 public:
  BackwardBlocks(const BackwardCall& call, const Products& products) : call_(call), products_(products) {}

  // Tiles that follow each other against some keys: adds to the states of both, or derivatives to the bias's sum.
  void run(std::span<const BackwardBlock<T>> blocks, const BiasSum* bias_sum) const {
    const bool needs_ds = call_.wants_dq || call_.wants_dk || bias_sum != nullptr;
    for (const BackwardBlock<T>& b : blocks) {
      weights(b);
      if (call_.wants_dv) {
        if (b.drops()) multiply(b.work.weights, b.work.factor, b.count(), b.work.dropped);
        products_.keep_weights(b);
      }
      if (!needs_ds) continue;
      score_grads(b);
      if (bias_sum != nullptr) add_to_bias(b, *bias_sum);
      if (b.x->forward.softcap != 0) multiply(b.work.ds, b.work.slope, b.count(), b.work.ds);
      if (call_.wants_dq || call_.wants_dk) products_.keep_ds(b);
    }
    if (call_.wants_dv) add_to_keys(blocks, KeyGrad::dv);
    if (call_.wants_dk) add_to_keys(blocks, KeyGrad::dk);
    if (!call_.wants_dq) return;
    for (const BackwardBlock<T>& b : blocks) products_.add_to_queries(b);
  }

 private:
  // exp(score - lse) of the block; 0 where hidden. Scores are in base 2.
  void weights(const BackwardBlock<T>& b) const {
    const AttentionTask& task = b.x->forward;
    const D d;
    const T* minus_lse = b.s->minus_lse + b.tile * kLanes;
    T* w = b.work.weights;
    const bool has_bias = task.bias.wanted() || task.alibi_slopes != nullptr;
    if (task.softcap == 0 && !has_bias) {
      products_.template scores<Finish::exp2>(b, minus_lse);
    } else {
      products_.template scores<Finish::none>(b, b.work.zeros);
      if (task.softcap != 0) {
        softcap_row(d, static_cast<T>(task.softcap), static_cast<T>(kLog2OfE), b.count(), w);
        softcap_slopes(static_cast<T>(task.softcap * kLog2OfE), w, b.count(), b.work.slope);
      }
      if (has_bias) {
        load_bias(b);
        add(b.work.bias, b.count(), w);
      }
      exponentiate(minus_lse, b.place.keys, w);
    }
    if (b.hides) {
      load_visible(b);
      hide(b.work.visible, b.place.keys, w);
    }
    if (!b.drops()) return;
    std::fill_n(b.work.factor, b.count(), T{1});
    drop_weights(d, task, b.place, b.work.factor);
  }

  void load_bias(const BackwardBlock<T>& b) const {
    const AttentionTask& task = b.x->forward;
    std::fill_n(b.work.bias, b.count(), T{0});
    if (task.bias.wanted()) {
      load_tile(D(), task.bias, b.place.first_query, b.place.queries, b.place.first_key, b.place.keys,
                static_cast<T>(kLog2OfE), kLanes, kLanes, b.work.spare, b.work.bias);
    }
    if (task.alibi_slopes == nullptr) return;
    const T slope = static_cast<T>(task.alibi_slopes[0] * kLog2OfE);
    for (std::ptrdiff_t i = 0; i < b.place.queries; ++i) {
      const std::int64_t position = task.position[b.place.first_query + i] - b.place.first_key;
      for (std::ptrdiff_t j = 0; j < b.place.keys; ++j) {
        b.work.bias[j * kLanes + i] -= slope * static_cast<T>(std::abs(position - j));
      }
    }
  }

  // Which pairs of the block are visible. Padding lanes repeat the last query.
  void load_visible(const BackwardBlock<T>& b) const {
    const D d;
    const AttentionTask& task = b.x->forward;
    constexpr std::ptrdiff_t kVector = static_cast<std::ptrdiff_t>(hn::MaxLanes(D()));
    for (std::ptrdiff_t w = 0; w < kVectors; ++w) {
      T begin[kVector], end[kVector];
      for (std::ptrdiff_t i = 0; i < kVector; ++i) {
        const std::ptrdiff_t row = b.place.first_query + std::min(w * kVector + i, b.place.queries - 1);
        const auto inside = [&](std::int64_t key) {
          return static_cast<T>(std::clamp<std::int64_t>(key - b.place.first_key, 0, b.place.keys));
        };
        begin[i] = inside(task.begin[row]);
        end[i] = inside(task.end[row]);
      }
      const hn::Vec<D> first = hn::LoadU(d, begin), last = hn::LoadU(d, end);
      for (std::ptrdiff_t j = 0; j < b.place.keys; ++j) {
        const hn::Vec<D> key = hn::Set(d, static_cast<T>(j));
        std::uint8_t eight[8];
        hn::StoreMaskBits(d, hn::And(hn::Ge(key, first), hn::Lt(key, last)), eight);
        std::copy_n(eight, kBitBytes<D>, b.work.visible + w * kBitPlane<D> + j * kBitBytes<D>);
      }
    }
    const PairBits bits{.data = b.work.visible, .plane_bytes = kBitPlane<D>, .vector_lanes = kVector};
    hide_by_masks(task, b.place, bits);
    if (task.bias.wanted()) hide_by_bias(task, b.place, bits);
  }

  // Derivatives by the scores after soft-cap: weight * (factor * dW - delta + grad_lse); 0 where hidden.
  void score_grads(const BackwardBlock<T>& b) const {
    const T* minus_delta = b.s->minus_delta + b.tile * kLanes;
    T* ds = b.work.ds;
    if (b.drops()) {
      products_.template weight_grads<Finish::none>(b, b.work.zeros);
      finish_dropped(b.work.factor, minus_delta, b.work.weights, b.place.keys, ds);
    } else {
      products_.template weight_grads<Finish::times>(b, minus_delta);
    }
    if (b.hides) hide(b.work.visible, b.place.keys, ds);
  }

  // Tiles whose blocks have the same keys go together: sums stay in registers for longer.
  void add_to_keys(std::span<const BackwardBlock<T>> blocks, KeyGrad grad) const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < blocks.size(); i += count) {
      const BackwardBlock<T>& b = blocks[i];
      const auto joins = [&](const BackwardBlock<T>& next) {
        return next.row == b.row && next.place.keys == b.place.keys && !next.selects() &&
               next.tile == b.tile + static_cast<std::ptrdiff_t>(count);
      };
      std::ptrdiff_t queries = b.place.queries;
      for (count = 1; !b.selects() && i + count < blocks.size() && joins(blocks[i + count]); ++count) {
        queries += blocks[i + count].place.queries;
      }
      products_.add_to_keys(b, queries, grad);
    }
  }

  void add_to_bias(const BackwardBlock<T>& b, const BiasSum& bias_sum) const {
    T* sum = static_cast<T*>(bias_sum.sum) + b.tile * bias_sum.tile_stride + b.row * bias_sum.key_stride;
    for (std::ptrdiff_t j = 0; j < b.place.keys; ++j) {
      for (std::ptrdiff_t i = 0; i < b.place.queries; ++i) {
        sum[j * bias_sum.key_stride + i] += b.work.ds[j * kLanes + i];
      }
    }
  }

  static void multiply(const T* x, const T* y, std::ptrdiff_t count, T* product) {
    for (std::ptrdiff_t i = 0; i < count; ++i) product[i] = x[i] * y[i];
  }
  static void add(const T* x, std::ptrdiff_t count, T* sum) {
    for (std::ptrdiff_t i = 0; i < count; ++i) sum[i] += x[i];
  }
  // The derivative of c tanh(x / c) by x is 1 - tanh(x / c)^2.
  static void softcap_slopes(T cap, const T* capped, std::ptrdiff_t count, T* slope) {
    const T inverse = T{1} / cap;
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      const T tanh = capped[i] * inverse;
      slope[i] = T{1} - tanh * tanh;
    }
  }
  static void hide(const std::uint8_t* visible, std::ptrdiff_t keys, T* pairs) {
    const D d;
    for (std::ptrdiff_t j = 0; j < keys; ++j) {
      for (int w = 0; w < kVectors; ++w) {
        T* at = pairs + j * kLanes + w * static_cast<std::ptrdiff_t>(hn::Lanes(d));
        hn::Store(hn::IfThenElseZero(visible_of(d, visible, j, w), hn::Load(d, at)), d, at);
      }
    }
  }
  static void exponentiate(const T* minus_lse, std::ptrdiff_t keys, T* s) {
    const D d;
    for (std::ptrdiff_t j = 0; j < keys; ++j) {
      for (std::ptrdiff_t i = 0; i < kLanes; i += static_cast<std::ptrdiff_t>(hn::Lanes(d))) {
        T* at = s + j * kLanes + i;
        hn::Store(exp2_bounded(d, hn::Add(hn::Load(d, at), hn::Load(d, minus_lse + i))), d, at);
      }
    }
  }
  static void finish_dropped(const T* factor, const T* minus_delta, const T* w, std::ptrdiff_t keys, T* ds) {
    for (std::ptrdiff_t j = 0; j < keys; ++j) {
      for (std::ptrdiff_t i = 0; i < kLanes; ++i) {
        const std::ptrdiff_t at = j * kLanes + i;
        ds[at] = w[at] * (factor[at] * ds[at] + minus_delta[i]);
      }
    }
  }

  const BackwardCall& call_;
  const Products& products_;
};

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
