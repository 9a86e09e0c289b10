// SPDX-License-Identifier: Apache-2.0
#include <attn/error.hpp>
#include <attn/roofline.hpp>
#include <cmath>

#include "gtest/gtest.h"

namespace attn {
namespace {

TEST(Roofline, IsTheLowerOfTheTwoBounds) {
  const Roofline roofline{.flops_per_second = 100, .bytes_per_second = 10};
  EXPECT_EQ(roofline.attainable(1000, 1), 100);  // 1000 flops a byte: the units bound it.
  EXPECT_EQ(roofline.attainable(1000, 1000), 10);
  EXPECT_EQ(roofline.attainable(1000, 0), 100);
}

TEST(Roofline, MeasuresPositiveRatesOnEveryInstructionSet) {
  for (const std::string& isa : available_isas()) {
    SCOPED_TRACE(isa);
    Context context({.threads = 2, .isa = isa});
    const Roofline roofline = measure_roofline(DType::f32, context);
    // Any machine that runs this does more than 10 Mflop/s, and none yet 10 Tflop/s with two threads.
    EXPECT_GT(roofline.flops_per_second, 1e7);
    EXPECT_LT(roofline.flops_per_second, 1e13);
    EXPECT_GT(roofline.bytes_per_second, 1e6);
    EXPECT_LT(roofline.bytes_per_second, 1e13);
  }
}

TEST(Roofline, RefusesDTypesThatNoSumIsHeldIn) {
  try {
    static_cast<void>(measure_roofline(DType::f16));
    FAIL() << "bf16 was taken";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "measure_roofline: products: dtype f16, expected f32, f64 or bf16");
  }
}

}  // namespace
}  // namespace attn
