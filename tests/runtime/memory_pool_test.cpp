// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <attn/memory_pool.hpp>
#include <attn/tensor.hpp>
#include <cstdint>

namespace attn {
namespace {

TEST(MemoryPool, GivesTheSameMemoryAgain) {
  MemoryPool pool;
  const void* first = nullptr;
  for (int i = 0; i < 3; ++i) {
    const Tensor t = Tensor::empty(DType::f32, std::initializer_list<std::ptrdiff_t>{1000, 10}, &pool);
    if (i == 0) first = t.data();
    EXPECT_EQ(t.data(), first);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(t.data()) % 64, 0u);
  }
  EXPECT_EQ(pool.upstream_allocations(), 1u);
  EXPECT_GE(pool.bytes(), 40000u);
  pool.release();
  EXPECT_EQ(pool.bytes(), 0u);
}

TEST(MemoryPool, WastesLittle) {
  for (std::size_t bytes = 1; bytes < 100000; bytes += 37) {
    MemoryPool pool;
    pool.deallocate(pool.allocate(bytes), bytes);
    EXPECT_GE(pool.bytes(), bytes);
    EXPECT_LE(pool.bytes(), std::max<std::size_t>(256, bytes + bytes / 4 + 64)) << bytes;
  }
}

TEST(MemoryPool, LeavesLargeAlignmentsToUpstream) {
  MemoryPool pool;
  void* p = pool.allocate(100, 4096);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 4096, 0u);
  pool.deallocate(p, 100, 4096);
  EXPECT_EQ(pool.bytes(), 0u);
}

}  // namespace
}  // namespace attn
