// SPDX-License-Identifier: Apache-2.0
#include "kernels/epilogue.hpp"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "kernels/reference/epilogue.hpp"
#include "runtime/isa.hpp"
#include "support/tensors.hpp"

namespace attn::kernels {
namespace {

using test::normal_numbers;

constexpr Activation kAll[] = {Activation::none, Activation::gelu, Activation::gelu_tanh, Activation::relu,
                               Activation::silu};

template <class T>
std::vector<T> activate(Activation activation, const std::vector<T>& x, std::int64_t target) {
  std::vector<T> y(x.size());
  const auto n = static_cast<std::ptrdiff_t>(x.size());
  apply_epilogue(Epilogue<T>{x.data(), n, y.data(), n, nullptr, nullptr, nullptr, 0, 1, n, activation}, target);
  return y;
}

TEST(Epilogue, ActivationsEqualReferenceF32) {
  std::vector<float> x;
  for (int i = -60000; i <= 60000; ++i) x.push_back(static_cast<float>(i) * 2.5e-4f);
  for (const runtime::Isa& isa : runtime::machine_isas()) {
    for (const Activation activation : kAll) {
      const std::vector<float> y = activate(activation, x, isa.target);
      double error = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double exact = reference::activate(activation, x[i]);
        error = std::max(error, std::abs(y[i] - exact) / std::max(1.0, std::abs(exact)));
      }
      EXPECT_LE(error, activation == Activation::gelu ? 1e-7 : 2e-7)
          << isa.name << ", activation " << static_cast<int>(activation);
    }
  }
}

TEST(Epilogue, ActivationsEqualReferenceF64) {
  std::vector<double> x;
  for (int i = -20000; i <= 20000; ++i) x.push_back(i * 7.5e-4);
  for (const runtime::Isa& isa : runtime::machine_isas()) {
    for (const Activation activation : kAll) {
      const std::vector<double> y = activate(activation, x, isa.target);
      double error = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double exact = reference::activate(activation, x[i]);
        error = std::max(error, std::abs(y[i] - exact) / std::max(1.0, std::abs(exact)));
      }
      EXPECT_LE(error, 2e-15) << isa.name << ", activation " << static_cast<int>(activation);
    }
  }
}

TEST(Epilogue, ExtremesStayFiniteAndNanStaysNan) {
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {-1000, 1000, inf, nan, -0.0f, -1e30f, 1e30f, 3e-39f, nan, -100, -50};
  for (const runtime::Isa& isa : runtime::machine_isas()) {
    for (const Activation activation : kAll) {
      SCOPED_TRACE(isa.name + ", activation " + std::to_string(static_cast<int>(activation)));
      const std::vector<float> y = activate(activation, x, isa.target);
      EXPECT_TRUE(std::isnan(y[3]) && std::isnan(y[8]));
      EXPECT_EQ(y[2], inf);
      EXPECT_EQ(y[1], 1000);
      EXPECT_EQ(y[6], 1e30f);
      EXPECT_EQ(y[4], 0);
      if (activation == Activation::none) continue;
      EXPECT_NEAR(y[0], 0, 1e-30);
      EXPECT_NEAR(y[9], 0, 1e-30);
    }
  }
}

TEST(Epilogue, LargestNegativeNumbersGiveZero) {
  for (const runtime::Isa& isa : runtime::machine_isas()) {
    for (const Activation activation : {Activation::gelu, Activation::gelu_tanh, Activation::relu, Activation::silu}) {
      SCOPED_TRACE(isa.name + ", activation " + std::to_string(static_cast<int>(activation)));
      for (const float y : activate(activation, std::vector<float>{-1e20f, -1e38f, -3e38f}, isa.target))
        EXPECT_EQ(y, 0);
      for (const double y : activate(activation, std::vector<double>{-1e300, -1e308}, isa.target)) EXPECT_EQ(y, 0);
    }
  }
}

// GELU of what is not far below 0 keeps its digits, however small it is.
TEST(Epilogue, GeluIsWithinAFewUnitsInTheLastPlace) {
  std::vector<float> x;
  for (int i = -20000; i <= 120000; ++i) x.push_back(static_cast<float>(i) * 5e-5f);
  for (float tiny = 1; tiny > 1e-35f; tiny *= 0.37f) x.insert(x.end(), {tiny, -tiny});
  for (const runtime::Isa& isa : runtime::machine_isas()) {
    const std::vector<float> y = activate(Activation::gelu, x, isa.target);
    double units = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double exact = reference::activate(Activation::gelu, x[i]);
      const auto near = static_cast<float>(std::abs(exact));
      units = std::max(units, std::abs(y[i] - exact) / (std::nextafter(near, 1e30f) - near));
    }
    EXPECT_LE(units, 6) << isa.name;
  }
}

TEST(Epilogue, ScalesAndAddsBiasAndResidualWithinItsColumns) {
  constexpr std::ptrdiff_t kRows = 3, kStep = 40;
  for (const runtime::Isa& isa : runtime::machine_isas()) {
    for (std::ptrdiff_t n = 0; n <= 35; ++n) {
      const auto bias = normal_numbers<float>(n + 1, 3), residual = normal_numbers<float>(kRows * kStep, 4);
      const auto x = normal_numbers<float>(kRows * kStep, 5), scale = normal_numbers<float>(n + 1, 6);
      std::vector<float> y = x;
      apply_epilogue(Epilogue<float>{y.data(), kStep, y.data(), kStep, scale.data(), bias.data(), residual.data(),
                                     kStep, kRows, n, Activation::silu},
                     isa.target);
      for (std::ptrdiff_t i = 0; i < kRows * kStep; ++i) {
        const auto at = static_cast<std::size_t>(i), column = static_cast<std::size_t>(i % kStep);
        if (i % kStep >= n) {
          EXPECT_EQ(y[at], x[at]);
        } else {
          const double scaled = static_cast<double>(x[at]) * static_cast<double>(scale[column]);
          EXPECT_NEAR(y[at], reference::finish(Activation::silu, scaled, bias[column], residual[at]), 2e-6);
        }
      }
    }
  }
}

}  // namespace
}  // namespace attn::kernels
