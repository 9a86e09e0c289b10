// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <attn/attention_backward.hpp>
#include <cmath>
#include <iostream>
#include <memory_resource>

#include "gtest/gtest.h"
#include "support/tensors.hpp"

namespace attn::test {
namespace {

// Counts what a context takes.
class CountingResource : public std::pmr::memory_resource {
 public:
  std::size_t peak() const { return peak_; }

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    const std::size_t now = used_ += bytes;
    for (std::size_t seen = peak_; now > seen && !peak_.compare_exchange_weak(seen, now);) continue;
    return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* data, std::size_t bytes, std::size_t alignment) override {
    used_ -= bytes;
    std::pmr::new_delete_resource()->deallocate(data, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::atomic<std::size_t> used_{0}, peak_{0};
};

// Scratch of one long head, whose queries see 512 keys each so that the test is short.
std::size_t peak_bytes(std::ptrdiff_t tokens, int threads) {
  constexpr std::ptrdiff_t kDim = 32;
  const Tensor q = normal_tensor(DType::f32, 1, 1, 1, tokens, kDim);
  Tensor out = poisoned_tensor(DType::f32, 1, 1, tokens, kDim), lse = poisoned_tensor(DType::f32, 1, 1, tokens);
  Tensor dq = poisoned_tensor(DType::f32, 1, 1, tokens, kDim), dk = dq.clone(), dv = dq.clone();
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
    for (const float x : grad->values<float>()) EXPECT_TRUE(std::isfinite(x));
  }
  return memory.peak();
}

TEST(AttentionBackwardMemory, GrowsWithLAndNotWithItsSquare) {
  constexpr std::size_t kMegabyte = std::size_t{1} << 20;
  for (const int threads : {1, 2}) {
    const std::size_t half = peak_bytes(8192, threads), whole = peak_bytes(16384, threads);
    EXPECT_LE(whole, 2 * half + kMegabyte) << threads << " threads";
    // A matrix of L x S floats would be 1 GB.
    EXPECT_LE(whole, 32 * kMegabyte) << threads << " threads";
    std::cout << threads << " threads, L = S = 16384, d = 32: " << whole / 1024 << " KB of scratch\n";
  }
}

}  // namespace
}  // namespace attn::test
