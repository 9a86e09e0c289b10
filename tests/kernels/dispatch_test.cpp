// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dispatch_test.cpp"
// foreach_target.h must come before anything that includes highway.h.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "gtest/gtest.h"
#include "kernels/dispatch.hpp"
#include "runtime/isa.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {

std::int64_t own_target() { return HWY_TARGET; }

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn::kernels {
namespace {

HWY_EXPORT(own_target);

TEST(Dispatch, EveryInstructionSetCanBeForced) {
  for (const runtime::Isa& isa : runtime::compiled_isas()) {
    EXPECT_EQ(ATTN_DISPATCH(own_target, isa.target)(), isa.target) << isa.name;
  }
  EXPECT_GE(runtime::compiled_isas().size(), 1u);
}

}  // namespace
}  // namespace attn::kernels
#endif
