// SPDX-License-Identifier: Apache-2.0
#include "kernels/peak.hpp"

#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/isa.hpp"

namespace attn::kernels {
namespace {

// The sum of 12 vectors of `lanes` lanes after `rounds` rounds, lane by lane.
double expected_sum(std::ptrdiff_t lanes, std::ptrdiff_t rounds) {
  double sum = 0;
  for (std::ptrdiff_t lane = 0; lane < lanes; ++lane) {
    double x = static_cast<double>(lane);
    for (std::ptrdiff_t r = 0; r < rounds; ++r) x = x * 0.999 + 0.001;
    sum += 12 * x;
  }
  return sum;
}

TEST(Peak, MultiplyAddsAreDoneAndCounted) {
  for (const runtime::Isa& isa : runtime::machine_isas()) {
    for (const std::ptrdiff_t rounds : {0, 1, 1000}) {
      SCOPED_TRACE(isa.name + ", rounds " + std::to_string(rounds));
      const FmaWork f32 = fma_work_f32(rounds, isa.target), f64 = fma_work_f64(rounds, isa.target);
      const auto lanes_f32 = static_cast<std::ptrdiff_t>(fma_work_f32(1, isa.target).flops) / 24;
      const auto lanes_f64 = static_cast<std::ptrdiff_t>(fma_work_f64(1, isa.target).flops) / 24;
      EXPECT_EQ(f32.flops, static_cast<double>(24 * lanes_f32 * rounds));
      EXPECT_EQ(f64.flops, static_cast<double>(24 * lanes_f64 * rounds));
      EXPECT_NEAR(f32.sum, expected_sum(lanes_f32, rounds), 1e-3 * (1 + f32.sum));
      EXPECT_NEAR(f64.sum, expected_sum(lanes_f64, rounds), 1e-9 * (1 + f64.sum));
    }
  }
}

TEST(Peak, ReadingReadsEveryElement) {
  std::vector<float> x(1037);
  std::iota(x.begin(), x.end(), 1.0F);  // Sums below 2^24 are exact in any order.
  for (const runtime::Isa& isa : runtime::machine_isas()) {
    for (const std::ptrdiff_t n : {0, 1, 63, 64, 65, 1037}) {
      SCOPED_TRACE(isa.name + ", n " + std::to_string(n));
      EXPECT_EQ(read_work(x.data(), n, isa.target), static_cast<float>(n * (n + 1) / 2));
    }
  }
}

}  // namespace
}  // namespace attn::kernels
