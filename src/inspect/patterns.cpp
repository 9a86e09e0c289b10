// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/error.hpp>
#include <attn/inspect/patterns.hpp>

#include "base/concat.hpp"
#include "base/convert.hpp"

namespace attn::inspect {
namespace {

using base::concat;

Target target_of(std::ptrdiff_t query, std::ptrdiff_t key, std::span<const std::string> tokens) {
  const std::string& token = tokens[static_cast<std::size_t>(key)];
  if (token == "[CLS]") return Target::cls;
  if (token == "[SEP]") return Target::sep;
  if (key == query) return Target::self;
  if (key == query - 1) return Target::previous;
  if (key == query + 1) return Target::next;
  return Target::other;
}

HeadPattern pattern_of_head(const In<3>& weights, std::ptrdiff_t head, std::span<const std::string> tokens) {
  HeadPattern pattern{.head = head};
  const std::ptrdiff_t length = weights.extent(1);
  for (std::ptrdiff_t i = 0; i < length; ++i) {
    for (std::ptrdiff_t j = 0; j < length; ++j) {
      const std::ptrdiff_t at = head * weights.stride(0) + i * weights.stride(1) + j * weights.stride(2);
      pattern.share[static_cast<std::size_t>(target_of(i, j, tokens))] +=
          base::load_as<double>(weights.dtype(), weights.data(), at);
    }
  }
  for (double& share : pattern.share) share /= static_cast<double>(std::max<std::ptrdiff_t>(length, 1));
  const auto largest = std::max_element(pattern.share.begin(), pattern.share.end());
  pattern.most = static_cast<Target>(largest - pattern.share.begin());
  return pattern;
}

void check_weights(const In<3>& weights, std::size_t tokens) {
  const auto fail = [](const auto&... what) { throw Error("inspect::patterns", "weights", concat(what...)); };
  if (weights.dtype() != DType::f32 && weights.dtype() != DType::f64) {
    fail("dtype ", name_of(weights.dtype()), ", expected f32 or f64");
  }
  if (weights.rank_found() != 3) fail("rank ", weights.rank_found(), ", expected 3: (heads, queries, keys)");
  const auto length = static_cast<std::ptrdiff_t>(tokens);
  if (weights.extent(1) != length || weights.extent(2) != length) {
    fail("shape ", base::shape_text(weights.extents().n), ", expected (", weights.extent(0), ", ", length, ", ", length,
         ") for ", length, " tokens");
  }
  if (weights.data() == nullptr && weights.extent(0) != 0 && length != 0) {
    fail("null pointer, expected memory for ", base::shape_text(weights.extents().n));
  }
}

}  // namespace

std::string_view name_of(Target target) noexcept {
  constexpr std::string_view kNames[kTargets] = {"self", "previous", "next", "[CLS]", "[SEP]", "other"};
  return kNames[static_cast<std::size_t>(target)];
}

std::vector<HeadPattern> patterns(In<3> weights, std::span<const std::string> tokens) {
  check_weights(weights, tokens.size());
  std::vector<HeadPattern> found;
  for (std::ptrdiff_t h = 0; h < weights.extent(0); ++h) found.push_back(pattern_of_head(weights, h, tokens));
  return found;
}

std::vector<HeadPattern> patterns(const Record& record) {
  std::vector<HeadPattern> found;
  for (std::size_t l = 0; l < record.layers.size(); ++l) {
    for (HeadPattern pattern : patterns(record.weights[l], record.encoding.tokens)) {
      pattern.layer = record.layers[l];
      pattern.head = record.heads[static_cast<std::size_t>(pattern.head)];
      found.push_back(pattern);
    }
  }
  return found;
}

}  // namespace attn::inspect
