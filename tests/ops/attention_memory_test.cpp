// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <attn/attention.hpp>
#include <iostream>

#include "gtest/gtest.h"
#include "support/counting_resource.hpp"
#include "support/tensors.hpp"

namespace attn::test {
namespace {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

// The most memory that this process has ever held.
std::size_t peak_resident_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

TEST(AttentionMemory, GrowsWithLAndNotWithItsSquare) {
  // A matrix of L x S floats would be 4 GB.
  constexpr int kTokens = 32768, kDim = 32;
  Random random(base_seed());
  const Tensor q = normal_tensor(random, DType::f32, 1, 1, kTokens, kDim);
  Tensor out = poisoned_tensor(DType::f32, 1, 1, kTokens, kDim), lse = poisoned_tensor(DType::f32, 1, 1, kTokens);
  const Tensor sink = Tensor::of<float>({1}, 1);
  for (const bool causal : {true, false}) {
    CountingResource memory;
    Context context({.threads = 2, .memory = &memory});
    AttentionOptions options{.softcap = 20, .sink = sink};
    if (causal) options.mask = Mask::causal() & Mask::window(20000, 0);
    const std::size_t before = peak_resident_bytes();
    attention(q, {q, q}, {.out = out, .lse = lse}, options, context);
    const std::size_t grown = peak_resident_bytes() - before;
    EXPECT_GT(memory.peak(), 0u);
    EXPECT_LE(memory.peak(), 64 * kMegabyte);
    EXPECT_LE(grown, 64 * kMegabyte);
    EXPECT_LE(memory.peak(), describe_attention(q, {q, q}, {.out = out}, options, context).scratch_bytes + kMegabyte);
    std::cout << "L = S = 32768: " << memory.peak() / 1024 << " KB of scratch, resident memory grew by " << grown / 1024
              << " KB\n";
  }
  for (const float y : out.values<float>()) ASSERT_TRUE(std::isfinite(y));
}

TEST(AttentionMemory, TheSecondCallAllocatesNoScratch) {
  CountingResource memory;
  Context context({.threads = 1, .memory = &memory});
  Random random(base_seed());
  const Tensor q = normal_tensor(random, DType::bf16, 1, 2, 100, 64);
  Tensor out = poisoned_tensor(DType::bf16, 1, 2, 100, 64);
  attention(q, q, q, out, {}, context);
  const std::size_t first = memory.peak();
  attention(q, q, q, out, {}, context);
  EXPECT_EQ(memory.peak(), first);
}

}  // namespace
}  // namespace attn::test
