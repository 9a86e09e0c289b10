// SPDX-License-Identifier: Apache-2.0
#include "kernels/dropout.hpp"

#include <gtest/gtest.h>

#include "runtime/isa.hpp"
#include "support/tensors.hpp"

namespace attn::kernels {
namespace {

template <class T>
void expect_rule(double p) {
  const DropoutRule rule(p, 5, 6);
  const std::vector<T> x = test::normal_numbers<T>(1003, 1);
  for (const runtime::Isa& isa : runtime::machine_isas()) {
    // In two pieces, as two threads would.
    std::vector<T> y(x.size(), T{-7});
    dropout(x.data(), y.data(), 0, 260, rule, isa.target);
    dropout(x.data(), y.data(), 260, 743, rule, isa.target);
    for (std::size_t n = 0; n < x.size(); ++n) {
      const bool keeps = rule.keeps(0, 0, 0, static_cast<std::ptrdiff_t>(n));
      EXPECT_EQ(y[n], keeps ? x[n] * static_cast<T>(rule.survivor_factor()) : T{0}) << isa.name << " at " << n;
    }
  }
}

TEST(Dropout, KeepsWhatTheRuleKeeps) {
  for (const double p : {0.0, 0.3, 1.0}) {
    expect_rule<float>(p);
    expect_rule<double>(p);
  }
}

}  // namespace
}  // namespace attn::kernels
