// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/view.hpp>
#include <cstdint>

namespace attn {

// Where query 0 stands among the keys: query i stands at p = i + offset. Said once a call; causal, windows, prefix,
// documents and ALiBi all use it. With as many queries as keys it need not be said; with fewer or more it must be,
// since both readings are in use and a guess would be wrong half of the time.
class Align {
 public:
  enum class Kind : std::uint8_t { unspecified, top_left, bottom_right, positions };

  constexpr Align() = default;
  // Offset 0: query 0 stands at key 0. What PyTorch's is_causal means.
  static constexpr Align top_left() { return Align(Kind::top_left); }
  // Offset S - L (with lengths: that entry's length - L): the last query stands at the last key. For decoding.
  static constexpr Align bottom_right() { return Align(Kind::bottom_right); }
  // positions(b, i) is p itself, (batch or 1, queries). Viewed.
  static constexpr Align positions(View<const std::int32_t, 2> positions) {
    Align align(Kind::positions);
    align.positions_ = positions;
    return align;
  }

  constexpr Kind kind() const { return kind_; }
  constexpr const View<const std::int32_t, 2>& given_positions() const { return positions_; }

 private:
  explicit constexpr Align(Kind kind) : kind_(kind) {}
  Kind kind_ = Kind::unspecified;
  View<const std::int32_t, 2> positions_{};
};

}  // namespace attn
