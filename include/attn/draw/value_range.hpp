// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/any_view.hpp>
#include <attn/export.hpp>
#include <attn/version.hpp>
#include <span>

namespace attn::draw {

inline namespace ATTN_ABI {

// The values that the two ends of a colour scale stand for, in the unit of the values. Values beyond it are drawn as
// its nearer end, infinities too. Functions that take one throw Error unless its ends are finite, min below max, and
// 1e-300 to 1e300 apart.
struct ValueRange {
  double min = 0;
  double max = 1;
};

}  // namespace ATTN_ABI

// One scale for all of the matrices (f32, any shape), so that the same colour is the same value in each: from 0 (or the
// smallest value when that is negative) to the largest; only finite values count. [0, 1] when no value is
// positive or negative. Throws Error for another dtype or a null pointer. Time: one pass over the values.
ATTN_API ValueRange value_range_of(std::span<const In<2>> matrices);

}  // namespace attn::draw
