// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "kernels/reference/matmul.hpp"
#include "runtime/isa.hpp"
#include "support/tensors.hpp"

namespace attn::kernels {
namespace {

using test::normal_numbers;

constexpr int kCanary = 12345;

// A vector whose first element stands on a cache line, as the kernel wants panels.
template <class W>
class Lines {
 public:
  explicit Lines(std::ptrdiff_t count) : memory_(static_cast<std::size_t>(count) + 64 / sizeof(W)) {}
  W* data() {
    const auto at = reinterpret_cast<std::uintptr_t>(memory_.data());
    return memory_.data() + (64 - at % 64) % 64 / sizeof(W);
  }

 private:
  std::vector<W> memory_;
};

// One product of numbers T by weights that are stored as W; C lies in a wider array of canaries.
template <class T, class W = T>
struct Product {
  std::ptrdiff_t rows, columns, depth, a_row, padded, c_row;
  std::vector<T> a, c;
  std::vector<double> w;  // as they are stored
  Lines<W> panels;
  Lines<T> lines;

  Product(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, std::ptrdiff_t a_gap)
      : rows(m),
        columns(n),
        depth(k),
        a_row(k + a_gap),
        padded(panel_count<T>(n) * kPanelColumns<T>),
        c_row(padded + kPanelColumns<T>),
        a(normal_numbers<T>(m * (k + a_gap), 1)),
        panels(padded * k),
        lines(m * c_row) {
    std::fill_n(lines.data(), m * c_row, T{kCanary});
    const std::vector<T> given = normal_numbers<T>(n * k, 2);
    const UnpackedWeight weight{dtype_of<T>, given.data(), {n, k}, {k, 1}};
    if constexpr (std::is_same_v<W, T>) {
      pack_panels(weight, 0, panel_count<T>(n), panels.data());
      w.assign(given.begin(), given.end());
    } else if constexpr (std::is_same_v<W, bf16>) {
      pack_bf16_panels(weight, 0, panel_count<T>(n), panels.data());
      for (const T x : given) w.push_back(static_cast<double>(to_float(to_bf16(x))));
    } else {
      std::vector<float> scales(static_cast<std::size_t>(padded));
      EXPECT_TRUE(pack_int8_panels(weight, 0, panel_count<T>(n), panels.data(), scales.data()));
      for (std::size_t i = 0; i < given.size(); ++i) {
        const double scale = static_cast<double>(scales[i / static_cast<std::size_t>(k)]);
        w.push_back(std::nearbyint(given[i] / scale));
      }
    }
  }
  MatmulBlock<T> block() {
    return {a.data(), a_row, dtype_of<W>, panels.data(), lines.data(), c_row, rows, columns, depth};
  }
  T at(std::ptrdiff_t m, std::ptrdiff_t n) { return lines.data()[m * c_row + n]; }
};

template <class T, class W>
void expect_equal_to_reference(Product<T, W>& p) {
  std::vector<double> a(p.a.begin(), p.a.end()), c(static_cast<std::size_t>(p.rows * p.columns));
  reference::matmul({a.data(), {p.rows, p.depth}, {p.a_row, 1}}, view(std::as_const(p.w).data(), p.columns, p.depth),
                    view(c.data(), p.rows, p.columns));
  // Each of `depth` additions rounds a partial sum of about sqrt(depth) once; six standard deviations of that. Integers
  // are up to 127, and about 40 in the mean square.
  const double unit = std::numeric_limits<T>::epsilon() * (std::is_same_v<W, std::int8_t> ? 40 : 1);
  const double tolerance = 6 * unit * (1 + static_cast<double>(p.depth) / 2);
  double error = 0;
  for (std::ptrdiff_t m = 0; m < p.rows; ++m) {
    for (std::ptrdiff_t n = 0; n < p.columns; ++n) {
      error = std::max(error, std::abs(p.at(m, n) - c[static_cast<std::size_t>(m * p.columns + n)]));
    }
    for (std::ptrdiff_t n = p.padded; n < p.c_row; ++n) EXPECT_EQ(p.at(m, n), T{kCanary});
  }
  EXPECT_LE(error, tolerance) << p.rows << " x " << p.columns << " x " << p.depth;
}

template <class T, class W = T>
void run_table() {
  for (const runtime::Isa& isa : runtime::machine_isas()) {
    SCOPED_TRACE(isa.name);
    for (const std::ptrdiff_t m : {1, 2, 3, 4, 5, 6, 7, 11, 12, 13, 25}) {
      for (const std::ptrdiff_t n : {1, 8, 9, 16, 17, 33, 48, 130}) {
        for (const std::ptrdiff_t k : {1, 5, 64, 301}) {
          Product<T, W> p(m, n, k, m % 2);
          matmul(p.block(), isa.target);
          expect_equal_to_reference(p);
        }
      }
    }
  }
}

TEST(Matmul, EqualsReferenceF32) { run_table<float>(); }
TEST(Matmul, EqualsReferenceF64) { run_table<double>(); }
TEST(Matmul, EqualsReferenceBf16) { run_table<float, bf16>(); }
TEST(Matmul, EqualsReferenceInt8) { run_table<float, std::int8_t>(); }

TEST(Matmul, DepthZeroGivesZeros) {
  for (const runtime::Isa& isa : runtime::machine_isas()) {
    for (const std::ptrdiff_t m : {1, 6, 40}) {
      Product<float> p(m, 20, 0, 3);
      matmul(p.block(), isa.target);
      for (std::ptrdiff_t n = 0; n < 20; ++n) EXPECT_EQ(p.at(m - 1, n), 0);
    }
  }
}

// Alone a row is read by another loop than among others, and widened elsewhere.
template <class W>
void expect_rows_alone() {
  for (const runtime::Isa& isa : runtime::machine_isas()) {
    SCOPED_TRACE(isa.name);
    Product<float, W> all(29, 130, 557, 1), parts(29, 130, 557, 1);
    matmul(all.block(), isa.target);
    // Every row alone, and its columns in two pieces that start at other panels.
    for (std::ptrdiff_t row = 0; row < 29; ++row) {
      MatmulBlock<float> b = parts.block();
      b.a += row * b.a_row;
      b.c += row * b.c_row;
      b.rows = 1;
      b.columns = 48;
      matmul(b, isa.target);
      b.panels = static_cast<const W*>(b.panels) + 48 * b.depth;
      b.c += 48;
      b.columns = 130 - 48;
      matmul(b, isa.target);
    }
    for (std::ptrdiff_t row = 0; row < 29; ++row) {
      for (std::ptrdiff_t n = 0; n < 130; ++n) EXPECT_EQ(all.at(row, n), parts.at(row, n));
    }
  }
}

TEST(Matmul, ARowDoesNotDependOnItsBlock) {
  expect_rows_alone<float>();
  expect_rows_alone<bf16>();
  expect_rows_alone<std::int8_t>();
}

TEST(Matmul, PacksEveryNumberTypeAndStride) {
  const std::vector<float> w = {1, 2, 3, -4, 0.5f, 8};
  std::vector<bf16> half;
  for (const float x : w) half.push_back(to_bf16(x));
  std::vector<float> panels(2 * 16, -1), transposed(3 * 16, -1);
  pack_panels({DType::bf16, half.data(), {3, 2}, {2, 1}}, 0, 1, panels.data());
  pack_panels({DType::f32, w.data(), {2, 3}, {1, 2}}, 0, 1, transposed.data());
  EXPECT_EQ(panels[0], 1);
  EXPECT_EQ(panels[2], 0.5f);
  EXPECT_EQ(panels[16 + 1], -4);
  EXPECT_EQ(panels[3], 0);
  EXPECT_EQ(transposed[1], 2);
  EXPECT_EQ(transposed[32], 0.5f);
}

TEST(Matmul, PacksInt8ByRow) {
  // Rows with the largest number 127, none, and one whose neighbour ties between two integers.
  const std::vector<float> w = {127, -127, 3.5f, 0, 0, 0, -254, 1, 5};
  std::vector<std::int8_t> panels(3 * 16, 99);
  std::vector<float> scales(16, -1);
  EXPECT_TRUE(pack_int8_panels({DType::f32, w.data(), {3, 3}, {3, 1}}, 0, 1, panels.data(), scales.data()));
  EXPECT_EQ(scales[0], 1);
  EXPECT_EQ(scales[1], 0);
  EXPECT_EQ(scales[2], 2);
  EXPECT_EQ(scales[3], 0);
  const auto q = [&](std::size_t n, std::size_t k) { return static_cast<int>(panels[k * 16 + n]); };
  EXPECT_EQ(q(0, 0), 127);
  EXPECT_EQ(q(0, 1), -127);
  EXPECT_EQ(q(0, 2), 4);
  EXPECT_EQ(q(1, 2), 0);
  EXPECT_EQ(q(2, 0), -127);
  EXPECT_EQ(q(2, 1), 0);
  EXPECT_EQ(q(2, 2), 2);
  EXPECT_EQ(q(3, 0), 0);
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_FALSE(pack_int8_panels({DType::f32, &bad, {1, 1}, {1, 1}}, 0, 1, panels.data(), scales.data()));
  }
}

}  // namespace
}  // namespace attn::kernels
