// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace attn::runtime {
namespace {

// Distinct threads that take part when every task waits until as many as wanted have come, or half a minute has passed
// (a loaded machine starts threads late).
std::size_t threads_seen(Executor& executor, std::size_t wanted) {
  std::mutex mutex;
  std::set<std::thread::id> ids;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  executor.run(64, [&](std::ptrdiff_t) {
    {
      const std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
    }
    while (std::chrono::steady_clock::now() < deadline) {
      {
        const std::lock_guard lock(mutex);
        if (ids.size() >= wanted) return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  return ids.size();
}

TEST(Executor, AsManyThreadsAsAskedFor) {
  for (const int n : {1, 2, 3, 7}) {
    Executor executor(n);
    EXPECT_EQ(threads_seen(executor, static_cast<std::size_t>(n)), static_cast<std::size_t>(n));
  }
}

TEST(Executor, ASmallerOneLaterDoesNotShrinkALargerOne) {
  Executor large(7), small(2);
  EXPECT_EQ(threads_seen(small, 2), 2u);
  EXPECT_EQ(threads_seen(large, 7), 7u);
}

TEST(Executor, EachTaskOnce) {
  for (const int n : {1, 3}) {
    Executor executor(n);
    std::vector<std::atomic<int>> counts(1000);
    executor.run(1000, [&](std::ptrdiff_t i) { ++counts[static_cast<std::size_t>(i)]; });
    for (const auto& count : counts) EXPECT_EQ(count, 1);
    executor.run(0, [&](std::ptrdiff_t) { FAIL(); });
  }
}

TEST(Executor, ThrowsWhatATaskThrows) {
  for (const int n : {1, 3}) {
    Executor executor(n);
    EXPECT_THROW(executor.run(100,
                              [](std::ptrdiff_t i) {
                                if (i == 50) throw std::runtime_error("fifty");
                              }),
                 std::runtime_error);
    std::atomic<int> after = 0;
    executor.run(10, [&](std::ptrdiff_t) { ++after; });
    EXPECT_EQ(after, 10);
  }
}

TEST(Executor, NestsAndIsShared) {
  Executor executor(3);
  std::atomic<int> count = 0;
  const auto use = [&] { executor.run(8, [&](std::ptrdiff_t) { executor.run(8, [&](std::ptrdiff_t) { ++count; }); }); };
  std::thread other(use);
  use();
  other.join();
  EXPECT_EQ(count, 128);
}

}  // namespace
}  // namespace attn::runtime
