// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace attn::kernels {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

constexpr std::uint32_t kPhiloxMultiplier0 = 0xD2511F53u, kPhiloxMultiplier1 = 0xCD9E8D57u;
// What the key grows by in a round: 2^32 times the golden ratio's fraction, and times sqrt(3) - 1.
constexpr std::uint32_t kPhiloxWeyl0 = 0x9E3779B9u, kPhiloxWeyl1 = 0xBB67AE85u;

// Philox4x32-10: four random words that are a pure function of a counter and a key (Salmon, Moraes, Dror & Shaw 2011,
// "Parallel random numbers: as easy as 1, 2, 3", section 3.3). Ten rounds, each two 32 x 32 -> 64 bit products.
constexpr PhiloxCounter philox4x32_10(PhiloxCounter counter, PhiloxKey key) noexcept {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{kPhiloxMultiplier0} * counter[0];
    const std::uint64_t b = std::uint64_t{kPhiloxMultiplier1} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += kPhiloxWeyl0;
    key[1] += kPhiloxWeyl1;
  }
  return counter;
}

// Which (query, key) pairs a dropout keeps. A pair's fate depends on seed, offset and its place (b, h, i, j) only,
// with b the batch entry or packed sequence, h the query head, and i, j counted within that entry: so it is the same
// whatever the tiling, the threads, the strides or the packing.
class DropoutRule {
 public:
  constexpr DropoutRule(double p, std::uint64_t seed, std::uint64_t offset) noexcept
      : threshold_(round_to_threshold(p)), survivor_factor_(p < 1 ? 1 / (1 - p) : 0) {
    // Mixing the offset into the key leaves the whole counter to the place.
    const PhiloxCounter mixed = philox4x32_10({low(offset), high(offset), 0, 0}, {low(seed), high(seed)});
    key_ = {mixed[0], mixed[1]};
  }

  // The words of the keys 4 * j_quad ... 4 * j_quad + 3; a pair is kept when its word reaches the threshold.
  constexpr PhiloxCounter words(std::ptrdiff_t b, std::ptrdiff_t h, std::ptrdiff_t i,
                                std::ptrdiff_t j_quad) const noexcept {
    return philox4x32_10({static_cast<std::uint32_t>(j_quad), static_cast<std::uint32_t>(i),
                          static_cast<std::uint32_t>(h), static_cast<std::uint32_t>(b)},
                         key_);
  }
  constexpr bool keeps(std::ptrdiff_t b, std::ptrdiff_t h, std::ptrdiff_t i, std::ptrdiff_t j) const noexcept {
    return words(b, h, i, j / 4)[static_cast<std::size_t>(j % 4)] >= threshold_;
  }

  constexpr PhiloxKey key() const noexcept { return key_; }
  // round(p * 2^32), from 0 (keeps all) to 2^32 (keeps none): 64 bits hold both.
  constexpr std::uint64_t threshold() const noexcept { return threshold_; }
  // 1 / (1 - p), or 0 for p = 1, where nothing survives.
  constexpr double survivor_factor() const noexcept { return survivor_factor_; }

 private:
  static constexpr std::uint32_t low(std::uint64_t x) noexcept { return static_cast<std::uint32_t>(x); }
  static constexpr std::uint32_t high(std::uint64_t x) noexcept { return static_cast<std::uint32_t>(x >> 32); }
  static constexpr std::uint64_t round_to_threshold(double p) noexcept {
    const double scaled = p * 0x1p32;
    const auto whole = static_cast<std::uint64_t>(scaled);
    return whole + (scaled - static_cast<double>(whole) >= 0.5 ? 1 : 0);
  }

  PhiloxKey key_{};
  std::uint64_t threshold_;
  double survivor_factor_;
};

}  // namespace attn::kernels
