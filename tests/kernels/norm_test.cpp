// SPDX-License-Identifier: Apache-2.0
#include "kernels/norm.hpp"

#include <cmath>

#include "gtest/gtest.h"
#include "kernels/reference/norm.hpp"
#include "runtime/isa.hpp"
#include "support/tensors.hpp"

namespace attn::kernels {
namespace {

using test::normal_numbers;

constexpr std::ptrdiff_t kRows = 3, kStep = 1030;

// Rows with a mean far from 0, as deep layers have.
template <class T>
std::vector<T> shifted_rows() {
  std::vector<T> x = normal_numbers<T>(kRows * kStep, 7);
  for (T& value : x) value += T{20};
  return x;
}

template <class T>
void expect_equal_to_reference(double tolerance) {
  const std::vector<T> x = shifted_rows<T>(), weight = normal_numbers<T>(kStep, 8), bias = normal_numbers<T>(kStep, 9);
  const std::vector<double> xd(x.begin(), x.end()), wd(weight.begin(), weight.end()), bd(bias.begin(), bias.end());
  for (const runtime::Isa& isa : runtime::machine_isas()) {
    for (const std::ptrdiff_t n : {1, 2, 7, 16, 33, 64, 100, 384, 1029}) {
      SCOPED_TRACE(isa.name + ", columns " + std::to_string(n));
      std::vector<T> layer(x.size(), T{-7}), rms(x.size(), T{-7});
      const T eps = static_cast<T>(1e-5);
      layer_norm(NormRows<T>{x.data(), kStep, layer.data(), kStep, weight.data(), bias.data(), kRows, n, eps},
                 isa.target);
      rms_norm(NormRows<T>{x.data(), kStep, rms.data(), kStep, weight.data(), nullptr, kRows, n, eps}, isa.target);
      std::vector<double> expected(static_cast<std::size_t>(n));
      const auto expect_row = [&](const std::vector<T>& y, std::ptrdiff_t r) {
        for (std::ptrdiff_t i = 0; i < n; ++i) {
          EXPECT_NEAR(y[static_cast<std::size_t>(r * kStep + i)], expected[static_cast<std::size_t>(i)], tolerance);
        }
        EXPECT_EQ(y[static_cast<std::size_t>(r * kStep + n)], T{-7});
      };
      for (std::ptrdiff_t r = 0; r < kRows; ++r) {
        const View<const double, 1> row(xd.data() + r * kStep, {n});
        reference::layer_norm(row, {wd.data(), {n}}, {bd.data(), {n}}, static_cast<double>(eps),
                              view(expected.data(), n));
        expect_row(layer, r);
        reference::rms_norm(row, {wd.data(), {n}}, static_cast<double>(eps), view(expected.data(), n));
        expect_row(rms, r);
      }
    }
  }
}

// The mean of numbers near 20 is rounded to 1e-6 (2e-15), which division by a standard deviation of about 1 keeps; two
// columns that are close make that smaller and the error larger. The twin sums 1029 squares near 400 one by one: 3e-13.
TEST(Norm, EqualsReferenceF32) { expect_equal_to_reference<float>(1e-5); }
TEST(Norm, EqualsReferenceF64) { expect_equal_to_reference<double>(3e-13); }

TEST(Norm, WorksInPlaceAndWithoutWeights) {
  for (const runtime::Isa& isa : runtime::machine_isas()) {
    std::vector<float> x = {1, 2, 3, 4}, y(4);
    layer_norm(NormRows<float>{x.data(), 4, y.data(), 4, nullptr, nullptr, 1, 4, 0}, isa.target);
    layer_norm(NormRows<float>{x.data(), 4, x.data(), 4, nullptr, nullptr, 1, 4, 0}, isa.target);
    EXPECT_EQ(x, y);
    EXPECT_NEAR(y[0], -1.3416407, 1e-6);
    EXPECT_NEAR(y[3], 1.3416407, 1e-6);
  }
}

}  // namespace
}  // namespace attn::kernels
