// SPDX-License-Identifier: Apache-2.0
#include <attn/attention_backward.hpp>
#include <cmath>
#include <iostream>

#include "gtest/gtest.h"
#include "support/counting_resource.hpp"
#include "support/tensors.hpp"

namespace attn::test {
namespace {

// Scratch of one long head, whose queries see 512 keys each so that the test is short.
std::size_t peak_bytes(DType dtype, std::ptrdiff_t tokens, int threads) {
  constexpr std::ptrdiff_t kDim = 32;
  const Tensor q = normal_tensor(dtype, 1, 1, 1, tokens, kDim);
  Tensor out = poisoned_tensor(dtype, 1, 1, tokens, kDim), lse = poisoned_tensor(DType::f32, 1, 1, tokens);
  Tensor dq = poisoned_tensor(dtype, 1, 1, tokens, kDim), dk = dq.clone(), dv = dq.clone();
  CountingResource memory;
  Context context({.threads = threads, .memory = &memory});
  const AttentionOptions options{.mask = Mask::causal() & Mask::window(511, 0)};
  attention(q, {q, q}, {.out = out, .lse = lse}, options);
  const AttentionSaved saved{.q = q, .k = q, .v = q, .out = out, .lse = lse};
  const AttentionGrads grads{.dq = dq, .dk = dk, .dv = dv};
  attention_backward(q, saved, grads, options, context);
  const std::size_t promised =
      describe_attention_backward({.out = q, .lse = {}}, saved, grads, options, context).scratch_bytes;
  EXPECT_GT(memory.peak(), 0u);
  EXPECT_LE(memory.peak(), promised);
  for (const Tensor* grad : {&dq, &dk, &dv}) {
    for (const double x : values_of(*grad)) EXPECT_TRUE(std::isfinite(x));
  }
  return memory.peak();
}

TEST(AttentionBackwardMemory, GrowsWithLAndNotWithItsSquare) {
  constexpr std::size_t kMegabyte = std::size_t{1} << 20;
  for (const DType dtype : {DType::f32, DType::bf16}) {
    for (const int threads : {1, 2}) {
      const std::size_t half = peak_bytes(dtype, 8192, threads), whole = peak_bytes(dtype, 16384, threads);
      EXPECT_LE(whole, 2 * half + kMegabyte) << name_of(dtype) << ", " << threads << " threads";
      // A matrix of L x S floats would be 1 GB.
      EXPECT_LE(whole, 32 * kMegabyte) << name_of(dtype) << ", " << threads << " threads";
      std::cout << name_of(dtype) << ", " << threads << " threads, L = S = 16384, d = 32: " << whole / 1024
                << " KB of scratch\n";
    }
  }
}

}  // namespace
}  // namespace attn::test
