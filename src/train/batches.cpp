// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/error.hpp>
#include <attn/train/batches.hpp>
#include <numeric>

#include "base/concat.hpp"

namespace attn::train {
namespace {

// SplitMix64 (Steele, Lea and Flood 2014): a stream of numbers that one number starts. The standard library's shuffle
// differs from one implementation to the next, and a run must replay anywhere.
class Stream {
 public:
  Stream(std::uint64_t seed, std::uint64_t epoch) : state_(seed) { state_ = next() ^ (epoch * 0xD1342543DE82EF95u); }
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  template <class Items>
  void shuffle(Items first, Items last) {
    for (auto n = last - first; n > 1; --n) {
      std::swap(first[n - 1], first[static_cast<std::ptrdiff_t>(next() % static_cast<std::uint64_t>(n))]);
    }
  }

 private:
  std::uint64_t state_;
};

void check(const BatchOptions& options) {
  const auto refuse = [](const char* option, std::ptrdiff_t found, const char* expected) {
    throw Error("make_batches", option, base::concat("found ", found, ", expected ", expected));
  };
  if (options.size < 1) refuse("size", options.size, "1 or more");
  if (options.tokens < 0) refuse("tokens", options.tokens, "0 or more");
  if (options.pool < 0) refuse("pool", options.pool, "0 or more");
}

// Cuts examples, in their order, into batches.
void cut(std::span<const std::size_t> order, std::span<const std::ptrdiff_t> lengths, const BatchOptions& options,
         std::vector<Batch>& batches) {
  std::ptrdiff_t longest = 0;
  Batch batch;
  for (const std::size_t item : order) {
    const std::ptrdiff_t after = std::max(longest, lengths[item]);
    const std::ptrdiff_t count = std::ssize(batch) + 1;
    const bool is_full = count > options.size || (options.tokens > 0 && after * count > options.tokens);
    if (is_full && !batch.empty()) {
      batches.push_back(std::move(batch));
      batch.clear();
      longest = 0;
    }
    longest = std::max(longest, lengths[item]);
    batch.push_back(item);
  }
  if (!batch.empty()) batches.push_back(std::move(batch));
}

}  // namespace

std::vector<Batch> make_batches(std::span<const std::ptrdiff_t> lengths, std::uint64_t seed, std::uint64_t epoch,
                                const BatchOptions& options) {
  check(options);
  Stream stream(seed, epoch);
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  stream.shuffle(order.begin(), order.end());
  std::vector<Batch> batches;
  const std::ptrdiff_t pool = options.pool > 0 ? options.pool * options.size : std::ssize(order);
  for (std::ptrdiff_t first = 0; first < std::ssize(order); first += pool) {
    const auto begin = order.begin() + first, end = order.begin() + std::min(first + pool, std::ssize(order));
    const auto by_length = [&](std::size_t a, std::size_t b) { return lengths[a] < lengths[b]; };
    if (options.pool > 0) std::stable_sort(begin, end, by_length);
    cut({begin, end}, lengths, options, batches);
  }
  stream.shuffle(batches.begin(), batches.end());
  return batches;
}

std::vector<Batch> make_even_batches(std::span<const std::ptrdiff_t> lengths, const BatchOptions& options) {
  check(options);
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return lengths[a] < lengths[b]; });
  std::vector<Batch> batches;
  cut(order, lengths, options, batches);
  return batches;
}

Tensor padded(std::span<const std::vector<std::int32_t>> rows, std::int32_t padding) {
  std::size_t longest = 0;
  for (const std::vector<std::int32_t>& row : rows) longest = std::max(longest, row.size());
  Tensor ids = Tensor::empty(DType::i32, std::ssize(rows), static_cast<std::ptrdiff_t>(longest));
  auto to = ids.values<std::int32_t>().begin();
  for (const std::vector<std::int32_t>& row : rows) {
    const auto end = std::copy(row.begin(), row.end(), to);
    to += static_cast<std::ptrdiff_t>(longest);
    std::fill(end, to, padding);
  }
  return ids;
}

}  // namespace attn::train
