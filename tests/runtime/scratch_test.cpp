// SPDX-License-Identifier: Apache-2.0
#include "runtime/scratch.hpp"

#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace attn::runtime {
namespace {

struct Counting : std::pmr::memory_resource {
  int allocations = 0, live = 0;
  void* do_allocate(std::size_t n, std::size_t a) override {
    if (n > std::size_t{1} << 40) throw std::bad_alloc();
    ++allocations;
    ++live;
    return std::pmr::new_delete_resource()->allocate(n, a);
  }
  void do_deallocate(void* p, std::size_t n, std::size_t a) override {
    --live;
    std::pmr::new_delete_resource()->deallocate(p, n, a);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

TEST(Scratch, AllocatesOnceForCallsOfOneSize) {
  Counting memory;
  {
    ScratchPool pool(&memory, 2);
    for (int i = 0; i < 10; ++i) {
      Scratch a(pool, 1000), b(pool, 1000);
      float* x = a.take<float>(3);
      float* y = a.take<float>(3);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x) % 64, 0u);
      EXPECT_EQ(y - x, 16);
    }
    EXPECT_EQ(memory.allocations, 2);
  }
  EXPECT_EQ(memory.live, 0);
}

TEST(Scratch, KeepsTheLargerBlock) {
  Counting memory;
  ScratchPool pool(&memory, 1);
  { Scratch small(pool, 100); }
  { Scratch large(pool, 10000); }
  { Scratch large(pool, 10000); }
  EXPECT_EQ(memory.allocations, 2);
  EXPECT_EQ(memory.live, 1);
}

TEST(Scratch, SaysHowMuchWasWanted) {
  Counting memory;
  ScratchPool pool(&memory, 1);
  try {
    Scratch huge(pool, std::size_t{1} << 41);
    FAIL();
  } catch (const std::bad_alloc& e) {
    EXPECT_STREQ(e.what(), "scratch: no memory for 2199023255552 bytes");
  }
}

}  // namespace
}  // namespace attn::runtime
