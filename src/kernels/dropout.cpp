// SPDX-License-Identifier: Apache-2.0
#include "kernels/dropout.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dropout.cpp"
// foreach_target.h must come before anything that includes highway.h.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/dispatch.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::ptrdiff_t kQuads = 64;

// The product of 32-bit numbers that stand in 64-bit lanes.
template <class D64, class V>
HWY_INLINE V wide_product(D64 d64, V a, V b) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(d64, hn::GetLane(a) * hn::GetLane(b));
#else
  const hn::Repartition<std::uint32_t, D64> d32;
  return hn::BitCast(d64, hn::MulEven(hn::BitCast(d32, a), hn::BitCast(d32, b)));
#endif
}

// The first and the last two words of each quad, to where the quads stand one after another.
template <class D64, class V>
HWY_INLINE void store_quads(D64 d64, V first, V last, std::uint32_t* words) {
#if HWY_TARGET == HWY_SCALAR
  const std::uint64_t pairs[2] = {hn::GetLane(first), hn::GetLane(last)};
  (void)d64;
  std::memcpy(words, pairs, sizeof pairs);
#else
  const hn::Repartition<std::uint32_t, D64> d32;
  hn::StoreU(hn::BitCast(d32, hn::InterleaveLower(d64, first, last)), d32, words);
  hn::StoreU(hn::BitCast(d32, hn::InterleaveUpper(d64, first, last)), d32, words + hn::MaxLanes(d32));
#endif
}

// The words of quads first ... first + kQuads - 1, as philox4x32_10 gives them; the steps are explained there. Each
// 64-bit lane holds one word of one quad.
void philox_words(std::uint64_t first, PhiloxKey key, std::uint32_t* HWY_RESTRICT words) {
  const hn::ScalableTag<std::uint64_t> d;
  constexpr std::ptrdiff_t kLanes = hn::MaxLanes(d);
  const auto low = hn::Set(d, 0xFFFFFFFFu);
  // Which quad a lane works on: so that interleaving lanes within blocks of 128 bits, below, brings quads in order.
  alignas(64) std::uint64_t order[kLanes];
  for (std::ptrdiff_t l = 0; l < kLanes; ++l) {
    order[l] = static_cast<std::uint64_t>(kLanes < 2 ? l : l % 2 * (kLanes / 2) + l / 2);
  }
  const auto offsets = hn::Load(d, order);
  for (std::ptrdiff_t q = 0; q < kQuads; q += kLanes) {
    const auto quad = hn::Add(offsets, hn::Set(d, first + static_cast<std::uint64_t>(q)));
    auto c0 = hn::And(quad, low), c1 = hn::ShiftRight<32>(quad), c2 = hn::Zero(d), c3 = hn::Zero(d);
    std::uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; ++round) {
      const auto a = wide_product(d, hn::Set(d, std::uint64_t{0xD2511F53u}), c0);
      const auto b = wide_product(d, hn::Set(d, std::uint64_t{0xCD9E8D57u}), c2);
      c0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(b), c1), hn::Set(d, std::uint64_t{k0}));
      c2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(a), c3), hn::Set(d, std::uint64_t{k1}));
      c1 = hn::And(b, low);
      c3 = hn::And(a, low);
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    store_quads(d, hn::Or(c0, hn::ShiftLeft<32>(c1)), hn::Or(c2, hn::ShiftLeft<32>(c3)), words + 4 * q);
  }
}

template <class T>
void drop(const T* x, T* y, std::ptrdiff_t first, std::ptrdiff_t count, const DropoutRule& rule) {
  alignas(64) std::uint32_t words[4 * kQuads];
  const T factor = static_cast<T>(rule.survivor_factor());
  const std::uint64_t threshold = rule.threshold();
  for (std::ptrdiff_t n = 0; n < count; n += 4 * kQuads) {
    philox_words(static_cast<std::uint64_t>((first + n) / 4), rule.key(), words);
    const T* from = x + first + n;
    T* to = y + first + n;
    const std::ptrdiff_t some = std::min(count - n, 4 * kQuads);
    if (threshold > 0xFFFFFFFFu) {
      std::fill(to, to + some, T{0});
      continue;
    }
    const std::uint32_t least = static_cast<std::uint32_t>(threshold);
    std::ptrdiff_t i = 0;
    if constexpr (sizeof(T) == sizeof(std::uint32_t)) {
      const hn::ScalableTag<T> d;
      const hn::RebindToUnsigned<decltype(d)> du;
      constexpr std::ptrdiff_t kLanes = hn::MaxLanes(d);
      for (; i + kLanes <= some; i += kLanes) {
        const auto drops = hn::RebindMask(d, hn::Lt(hn::Load(du, words + i), hn::Set(du, least)));
        hn::StoreU(hn::IfThenZeroElse(drops, hn::Mul(hn::LoadU(d, from + i), hn::Set(d, factor))), d, to + i);
      }
    }
    for (; i < some; ++i) to[i] = words[i] >= least ? from[i] * factor : T{0};
  }
}

void drop_f32(const float* x, float* y, std::ptrdiff_t first, std::ptrdiff_t count, const DropoutRule& rule) {
  drop(x, y, first, count, rule);
}
void drop_f64(const double* x, double* y, std::ptrdiff_t first, std::ptrdiff_t count, const DropoutRule& rule) {
  drop(x, y, first, count, rule);
}

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn::kernels {

HWY_EXPORT(drop_f32);
HWY_EXPORT(drop_f64);

void dropout(const float* x, float* y, std::ptrdiff_t first, std::ptrdiff_t count, const DropoutRule& rule,
             std::int64_t target) noexcept {
  ATTN_DISPATCH(drop_f32, target)(x, y, first, count, rule);
}
void dropout(const double* x, double* y, std::ptrdiff_t first, std::ptrdiff_t count, const DropoutRule& rule,
             std::int64_t target) noexcept {
  ATTN_DISPATCH(drop_f64, target)(x, y, first, count, rule);
}

}  // namespace attn::kernels
#endif
