// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <attn/error.hpp>
#include <attn/parallel.hpp>
#include <vector>

#include "gtest/gtest.h"

namespace attn {
namespace {

TEST(ParallelFor, CallsEachTaskOnceAlsoWithinTasks) {
  Context context({.threads = 3});
  std::vector<std::atomic<int>> calls(60);
  parallel_for(
      6,
      [&](std::ptrdiff_t i) {
        parallel_for(
            10, [&](std::ptrdiff_t j) { ++calls[static_cast<std::size_t>(i * 10 + j)]; }, context);
      },
      context);
  for (const auto& count : calls) EXPECT_EQ(count, 1);
}

TEST(ParallelFor, ThrowsWhatATaskThrows) {
  EXPECT_THROW(parallel_for(5,
                            [](std::ptrdiff_t i) {
                              if (i == 3) throw Error("task", "", "three");
                            }),
               Error);
  parallel_for(0, [](std::ptrdiff_t) { FAIL(); });
}

}  // namespace
}  // namespace attn
