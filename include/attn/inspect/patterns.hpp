// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <attn/inspect/record.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn::inspect {

// Where a query looks. Each key counts as one: [CLS] and [SEP] first, since a head that rests on them does so from
// every position, neighbours included (Clark et al. 2019, section 3.2); then self, previous and next token.
enum class Target : std::uint8_t { self, previous, next, cls, sep, other };
inline constexpr std::size_t kTargets = 6;
// "self", "previous", "next", "[CLS]", "[SEP]", "other".
ATTN_API std::string_view name_of(Target target) noexcept;

inline namespace ATTN_ABI {

// Where one head looks.
struct HeadPattern {
  std::ptrdiff_t layer = 0, head = 0;       // from 0
  std::array<double, kTargets> share = {};  // of its weight, by Target: the mean over query rows; together 1
  Target most = Target::self;               // the largest share; of equal ones the first

  double share_of(Target target) const { return share[static_cast<std::size_t>(target)]; }
};

}  // namespace ATTN_ABI

// One pattern a recorded layer and head, in order.
ATTN_API std::vector<HeadPattern> patterns(const Record& record);
// Of one layer: weights f32 or f64, (heads, L, L), rows = queries, and its L tokens as the vocabulary writes them.
// Layer and heads of the result count from 0. Throws Error for another dtype or shape.
ATTN_API std::vector<HeadPattern> patterns(In<3> weights, std::span<const std::string> tokens);

}  // namespace attn::inspect
