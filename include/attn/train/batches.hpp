// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/export.hpp>
#include <attn/tensor.hpp>
#include <attn/version.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace attn::train {

// Numbers of examples that are computed together.
using Batch = std::vector<std::size_t>;

inline namespace ATTN_ABI {

struct BatchOptions {
  // Examples of a batch at most.
  std::ptrdiff_t size = 32;
  // Its tokens at most, padding included; an example that is longer makes a batch by itself. 0: no limit.
  std::ptrdiff_t tokens = 0;
  // Examples of similar length are put together, so that little is padding; 0 leaves the order as it is shuffled.
  // A pool of so many batches is sorted by length at a time.
  std::ptrdiff_t pool = 50;
};

}  // namespace ATTN_ABI

// All examples once, in batches; `lengths` are their tokens. The order follows from seed and epoch alone: a shuffle
// (Fisher and Yates) driven by SplitMix64, pools sorted by length, and the batches of each shuffled again. Throws
// Error for options out of range. Time: n log n.
ATTN_API std::vector<Batch> make_batches(std::span<const std::ptrdiff_t> lengths, std::uint64_t seed,
                                         std::uint64_t epoch, const BatchOptions& options = {});

// The same without a shuffle, by length, for evaluation.
ATTN_API std::vector<Batch> make_even_batches(std::span<const std::ptrdiff_t> lengths,
                                              const BatchOptions& options = {});

// The texts of a batch as one tensor, (texts, tokens of the longest) i32, filled up with `padding`.
ATTN_API Tensor padded(std::span<const std::vector<std::int32_t>> rows, std::int32_t padding);

}  // namespace attn::train
