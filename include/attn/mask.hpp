// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/any_view.hpp>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>

namespace attn {

namespace ops {
struct MaskData;
struct MaskAccess;
}  // namespace ops

// Which (query, key) pairs are visible, and nothing else: a pure predicate. `&` intersects, is associative and
// commutative. Query i stands at position p = i + offset among the keys, where `Align` gives the offset; key j is
// visible when every part says so. A row that sees no key gives output 0 and lse -inf (or the sink's logit).
//
//   Mask::causal() & Mask::window(128, 0) & Mask::lengths({7, 5})
//
// In packed calls i and j count from 0 in each sequence, and batch entries below are sequences.
class [[nodiscard]] ATTN_API Mask {
 public:
  static constexpr std::int64_t unbounded = std::numeric_limits<std::int64_t>::max();

  Mask() = default;  // everything is visible
  static Mask none() { return {}; }
  // j <= p.
  static Mask causal();
  // p - left <= j <= p + right: (128, 0) keeps 129 keys. `unbounded` opens a side. Throws Error for negative sides.
  static Mask window(std::int64_t left, std::int64_t right);
  // Causal, or j < n: the first n keys are visible to everybody. Throws Error for negative n.
  static Mask prefix_lm(std::int64_t n);
  // j < lengths[b]: hides keys only, queries beyond a length still give a row. One length a batch entry. Copied.
  // Keys and values beyond a length are never read. Throws Error for negative lengths.
  static Mask lengths(std::span<const std::int32_t> lengths);
  static Mask lengths(std::span<const std::int64_t> lengths);
  static Mask lengths(std::initializer_list<std::int64_t> lengths);
  // ids[b, p] == ids[b, j], i32 or i64, (batch or 1, keys): a token sees its own document. A query whose position p is
  // outside the keys sees nothing. Viewed: the ids must outlive every use of the mask; owned() copies them.
  static Mask documents(In<2> ids);
  // keep(b, h, i, j) is true: visible. drop: true hides. boolean or u8, (batch, query heads, queries, keys), any
  // extent may be 1 and is then broadcast. Viewed, as above.
  static Mask keep(In<4> keep);
  static Mask drop(In<4> drop);

  // The same mask with copies of everything that is viewed: what whoever stores a mask stores.
  Mask owned() const;

 private:
  friend struct ops::MaskAccess;
  std::shared_ptr<const ops::MaskData> data_;
};

// The pairs that both show.
ATTN_API Mask operator&(const Mask& a, const Mask& b);

}  // namespace attn
