// SPDX-License-Identifier: Apache-2.0
// Included once for each instruction set, by kernels/attention.cpp.
#if defined(ATTN_KERNELS_ATTENTION_DROPOUT_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_KERNELS_ATTENTION_DROPOUT_INL_HPP
#undef ATTN_KERNELS_ATTENTION_DROPOUT_INL_HPP
#else
#define ATTN_KERNELS_ATTENTION_DROPOUT_INL_HPP
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "kernels/attention_block.hpp"
#include "kernels/unroll.hpp"

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR  // which has no product of 64 bits

// The two halves of each lane's 64-bit product with a constant.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void multiply(D d, V x, std::uint32_t factor, V& high, V& low) {
  const hn::RepartitionToWide<D> wide;
  const V f = hn::Set(d, factor);
  const auto even = hn::MulEven(x, f);
  const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, x))), f);
  low = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
  high = hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
}

// philox4x32_10 of kernels/philox.hpp, a generator in each lane.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void philox_lanes(D d, V (&c)[4], PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    V high0, low0, high2, low2;
    multiply(d, c[0], kPhiloxMultiplier0, high0, low0);
    multiply(d, c[2], kPhiloxMultiplier1, high2, low2);
    c[0] = hn::Xor(hn::Xor(high2, c[1]), hn::Set(d, key[0]));
    c[1] = low2;
    c[2] = hn::Xor(hn::Xor(high0, c[3]), hn::Set(d, key[1]));
    c[3] = low0;
    key[0] += kPhiloxWeyl0;
    key[1] += kPhiloxWeyl1;
  }
}

// Multiplies survivors by 1 / (1 - p) and sets the others to 0, a vector of queries and four keys at a time.
template <class D>
void drop_lanes(D d, const AttentionTask& task, const PairBlock& block, float* weights) {
  const DropoutRule& rule = *task.dropout.rule;
  const hn::RebindToUnsigned<D> d32;
  const std::ptrdiff_t n = static_cast<std::ptrdiff_t>(hn::Lanes(d)), last_key = block.first_key + block.keys;
  const auto factor = hn::Set(d, static_cast<float>(rule.survivor_factor()));
  const auto threshold = hn::Set(d32, static_cast<std::uint32_t>(rule.threshold()));
  for (std::ptrdiff_t lane = 0; lane < block.queries; lane += n) {
    std::uint32_t queries[hn::MaxLanes(D())], heads[hn::MaxLanes(D())];
    for (std::ptrdiff_t i = 0; i < n; ++i) {
      const std::ptrdiff_t row = block.first_query + lane + i, head = task.head_of(row);
      queries[i] = static_cast<std::uint32_t>(task.dropout.first_query + row - head * task.head_queries);
      heads[i] = static_cast<std::uint32_t>(task.dropout.head + head);
    }
    const auto query = hn::LoadU(d32, queries), head = hn::LoadU(d32, heads);
    for (std::ptrdiff_t quad = block.first_key / 4; quad * 4 < last_key; ++quad) {
      hn::Vec<decltype(d32)> word[4] = {hn::Set(d32, static_cast<std::uint32_t>(quad)), query, head,
                                        hn::Set(d32, static_cast<std::uint32_t>(task.dropout.batch))};
      philox_lanes(d32, word, rule.key());
      for (std::ptrdiff_t w = 0; w < 4; ++w) {
        const std::ptrdiff_t j = quad * 4 + w - block.first_key;
        if (j < 0 || j >= block.keys) continue;
        float* at = weights + j * block.lanes + lane;
        const auto dropped = hn::RebindMask(d, hn::Lt(word[w], threshold));
        hn::Store(hn::IfThenZeroElse(dropped, hn::Mul(hn::Load(d, at), factor)), d, at);
      }
    }
  }
}

#endif

// Drops weights of a block: rows are keys, `block.lanes` apart.
template <class D, class T = hn::TFromD<D>>
void drop_weights([[maybe_unused]] D d, const AttentionTask& task, const PairBlock& block, T* weights) {
#if HWY_TARGET != HWY_SCALAR
  // A threshold of 2^32, which keeps none, does not fit a lane.
  if constexpr (sizeof(T) == 4) {
    if (task.dropout.rule->threshold() >> 32 == 0) return drop_lanes(d, task, block, weights);
  }
#endif
  drop_block(task, block, weights);
}

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
