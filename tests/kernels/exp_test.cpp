// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/exp_test.cpp"
// foreach_target.h must come before anything that includes highway.h.
// clang-format off
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/dispatch.hpp"
#include "kernels/exp-inl.hpp"
#include "runtime/isa.hpp"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace attn::kernels::HWY_NAMESPACE {
namespace {

// Results of every x in place; x holds whole vectors of any instruction set.
template <class T>
void exp2_all(T* x, std::size_t count) {
  const hn::ScalableTag<T> d;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) hn::StoreU(exp2_bounded(d, hn::LoadU(d, x + i)), d, x + i);
}
void exp2_f32(float* x, std::size_t count) { exp2_all(x, count); }
void exp2_f64(double* x, std::size_t count) { exp2_all(x, count); }

}  // namespace
}  // namespace attn::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn::kernels {
namespace {

HWY_EXPORT(exp2_f32);
HWY_EXPORT(exp2_f64);

void run(std::int64_t target, std::vector<float>& x) { ATTN_DISPATCH(exp2_f32, target)(x.data(), x.size()); }
void run(std::int64_t target, std::vector<double>& x) { ATTN_DISPATCH(exp2_f64, target)(x.data(), x.size()); }

template <class T>
class Exp2 : public testing::Test {
 protected:
  static constexpr T kSmallest = sizeof(T) == 4 ? -126 : -1022;
  static constexpr T kInfinity = std::numeric_limits<T>::infinity();
};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Exp2, Types);

// The error in units in the last place of the result, against a wider type's.
TYPED_TEST(Exp2, IsWithinTwoUnitsInTheLastPlace) {
  using T = TypeParam;
  using Wider = std::conditional_t<sizeof(T) == 4, double, long double>;
  constexpr int kSteps = 1 << (sizeof(T) == 4 ? 17 : 13);
  for (const runtime::Isa& isa : runtime::machine_isas()) {
    std::vector<T> x;
    for (int i = 0; i < kSteps; ++i) x.push_back(this->kSmallest + (9 - this->kSmallest) * static_cast<T>(i) / kSteps);
    for (int i = 0; i < kSteps; ++i) x.push_back(std::ldexp(static_cast<T>(i % 2 == 0 ? 1 : -1), -i % 60));
    const std::vector<T> given = x;
    run(isa.target, x);
    Wider worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const Wider exact = std::exp2(static_cast<Wider>(given[i]));
      const T rounded = static_cast<T>(exact);
      const Wider unit = std::nextafter(rounded, this->kInfinity) - rounded;
      worst = std::max(worst, std::abs(static_cast<Wider>(x[i]) - exact) / unit);
    }
    EXPECT_LE(worst, 2) << isa.name;
  }
}

TYPED_TEST(Exp2, IsExactForIntegersAndKeepsNanAndNothing) {
  using T = TypeParam;
  for (const runtime::Isa& isa : runtime::machine_isas()) {
    std::vector<T> x(64, -this->kInfinity);
    for (int i = 0; i < 32; ++i) x[static_cast<std::size_t>(i)] = static_cast<T>(8 - 4 * i);
    x[32] = std::numeric_limits<T>::quiet_NaN();
    x[33] = this->kSmallest;
    x[34] = std::nextafter(this->kSmallest, -this->kInfinity);
    x[35] = std::numeric_limits<T>::lowest();
    run(isa.target, x);
    for (int i = 0; i < 32; ++i) EXPECT_EQ(x[static_cast<std::size_t>(i)], std::exp2(static_cast<T>(8 - 4 * i)));
    EXPECT_TRUE(std::isnan(x[32])) << isa.name;
    EXPECT_EQ(x[33], std::numeric_limits<T>::min()) << isa.name;
    for (std::size_t i = 34; i < x.size(); ++i) EXPECT_EQ(x[i], 0) << isa.name;
  }
}

}  // namespace
}  // namespace attn::kernels
#endif
