// SPDX-License-Identifier: Apache-2.0
#include <attn/error.hpp>
#include <attn/models/token_batch.hpp>
#include <limits>

#include "base/concat.hpp"

namespace attn::models {
namespace {

using base::concat;
using base::shape_text;

constexpr std::int64_t kMaxInt = std::numeric_limits<std::int32_t>::max();

void check_operand(const In<2>& found, std::string_view name, std::initializer_list<DType> dtypes,
                   std::string_view kinds, const Extents<2>& extents) {
  bool is_known = false;
  for (const DType t : dtypes) is_known |= found.dtype() == t;
  if (!is_known) throw Error("TokenBatch", name, concat("dtype ", name_of(found.dtype()), ", expected ", kinds));
  if (found.rank_found() != 2) {
    throw Error("TokenBatch", name, concat("rank ", found.rank_found(), ", expected 2: (batch, width)"));
  }
  if (!(found.extents() == extents)) {
    throw Error("TokenBatch", name,
                concat("shape ", shape_text(found.extents().n), ", expected ", shape_text(extents.n), " as of ids"));
  }
  if (found.data() == nullptr && extents[0] != 0 && extents[1] != 0) {
    throw Error("TokenBatch", name, concat("null, expected ", shape_text(extents.n), " numbers"));
  }
}

// An element of any integer dtype that was checked.
std::int64_t element(const In<2>& from, std::ptrdiff_t i, std::ptrdiff_t j) {
  const std::ptrdiff_t at = i * from.stride(0) + j * from.stride(1);
  switch (from.dtype()) {
    case DType::i64:
      return static_cast<const std::int64_t*>(from.data())[at];
    case DType::i32:
      return static_cast<const std::int32_t*>(from.data())[at];
    default:  // boolean or u8
      return static_cast<const std::uint8_t*>(from.data())[at];
  }
}

std::int32_t narrow(const In<2>& from, std::string_view name, std::ptrdiff_t i, std::ptrdiff_t j) {
  const std::int64_t x = element(from, i, j);
  if (x < 0 || x > kMaxInt) {
    throw Error("TokenBatch", name, concat(x, " at (", i, ", ", j, "), expected 0 to ", kMaxInt));
  }
  return static_cast<std::int32_t>(x);
}

}  // namespace

TokenBatch::TokenBatch(const PaddedTokens& padded) {
  const Extents<2>& shape = padded.ids.extents();
  check_operand(padded.ids, "ids", {DType::i32, DType::i64}, "i32 or i64", shape);
  const auto mask_types = {DType::boolean, DType::u8, DType::i32, DType::i64};
  if (padded.mask.wanted()) check_operand(padded.mask, "mask", mask_types, "boolean, u8, i32 or i64", shape);
  if (padded.types.wanted()) check_operand(padded.types, "types", {DType::i32, DType::i64}, "i32 or i64", shape);
  std::vector<std::int32_t> ids, types, positions;
  for (std::ptrdiff_t i = 0; i < shape[0]; ++i) {
    ids.clear(), types.clear(), positions.clear();
    for (std::ptrdiff_t j = 0; j < shape[1]; ++j) {
      if (padded.mask.wanted() && element(padded.mask, i, j) == 0) continue;
      ids.push_back(narrow(padded.ids, "ids", i, j));
      types.push_back(padded.types.wanted() ? narrow(padded.types, "types", i, j) : 0);
      positions.push_back(static_cast<std::int32_t>(j));
    }
    add(ids, types, positions);
  }
}

void TokenBatch::add(std::span<const std::int32_t> ids, std::span<const std::int32_t> types,
                     std::span<const std::int32_t> positions) {
  const auto check = [&](std::string_view name, std::size_t found) {
    if (found == 0 || found == ids.size()) return;
    throw Error("TokenBatch::add", name, concat(found, " numbers, expected ", ids.size(), " as of ids"));
  };
  check("types", types.size());
  check("positions", positions.size());
  if (static_cast<std::int64_t>(ids_.size() + ids.size()) > kMaxInt) {
    throw Error("TokenBatch::add", "ids", concat("more than ", kMaxInt, " tokens in one batch"));
  }
  for (std::size_t j = 0; j < ids.size(); ++j) {
    ids_.push_back(ids[j]);
    types_.push_back(types.empty() ? 0 : types[j]);
    positions_.push_back(positions.empty() ? static_cast<std::int32_t>(j) : positions[j]);
  }
  starts_.push_back(static_cast<std::int32_t>(ids_.size()));
}

}  // namespace attn::models
