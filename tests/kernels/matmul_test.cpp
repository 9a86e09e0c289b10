// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul.hpp"

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

// One product; C lies in a wider array of canaries.
template <class T>
struct Product {
  std::ptrdiff_t rows, columns, depth, a_column = 1, c_row = 0;
  std::vector<T> a, w, panels, c;

  Product(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, std::ptrdiff_t a_step)
      : rows(m), columns(n), depth(k), a_column(a_step), c_row(n + 5) {
    a = normal_numbers<T>(m * k * a_step, 1);
    w = normal_numbers<T>(n * k, 2);
    c.assign(static_cast<std::size_t>(m * c_row), T{kCanary});
    // The kernel wants panels on a cache line; a vector may start anywhere, so its first line begins later.
    panels.resize(static_cast<std::size_t>(panel_count<T>(n) * kPanelColumns<T> * k + kPanelColumns<T>));
    pack_panels(dtype_of<T>, w.data(), {n, k}, {k, 1}, 0, panel_count<T>(n), aligned());
  }
  T* aligned() {
    const auto at = reinterpret_cast<std::uintptr_t>(panels.data());
    return panels.data() + ((64 - at % 64) % 64) / sizeof(T);
  }
  MatmulBlock<T> block() {
    return {a.data(), depth * a_column, a_column, aligned(), c.data(), c_row, rows, columns, depth};
  }
  T at(std::ptrdiff_t m, std::ptrdiff_t n) const { return c[static_cast<std::size_t>(m * c_row + n)]; }
};

template <class T>
void expect_equal_to_reference(const Product<T>& p) {
  std::vector<double> a, w(p.w.begin(), p.w.end()), c(static_cast<std::size_t>(p.rows * p.columns));
  a.assign(p.a.begin(), p.a.end());
  reference::matmul({a.data(), {p.rows, p.depth}, {p.depth * p.a_column, p.a_column}},
                    view(std::as_const(w).data(), p.columns, p.depth), view(c.data(), p.rows, p.columns));
  // Each of `depth` additions rounds a partial sum of about sqrt(depth) once; six standard deviations of that.
  const double tolerance = 6 * std::numeric_limits<T>::epsilon() * (1 + static_cast<double>(p.depth) / 2);
  double error = 0;
  for (std::ptrdiff_t m = 0; m < p.rows; ++m) {
    for (std::ptrdiff_t n = 0; n < p.columns; ++n) {
      error = std::max(error, std::abs(p.at(m, n) - c[static_cast<std::size_t>(m * p.columns + n)]));
    }
    for (std::ptrdiff_t n = p.columns; n < p.c_row; ++n) EXPECT_EQ(p.at(m, n), T{kCanary});
  }
  EXPECT_LE(error, tolerance) << p.rows << " x " << p.columns << " x " << p.depth;
}

template <class T>
void run_table() {
  for (const runtime::Isa& isa : runtime::machine_isas()) {
    SCOPED_TRACE(isa.name);
    for (const std::ptrdiff_t m : {1, 2, 3, 4, 5, 6, 7, 12, 13, 25}) {
      for (const std::ptrdiff_t n : {1, 7, 8, 9, 15, 16, 17, 32, 33, 48, 130}) {
        for (const std::ptrdiff_t k : {0, 1, 5, 64, 301}) {
          Product<T> p(m, n, k, 1 + m % 2);
          matmul(p.block(), isa.target);
          expect_equal_to_reference(p);
        }
      }
    }
  }
}

TEST(Matmul, EqualsReferenceF32) { run_table<float>(); }
TEST(Matmul, EqualsReferenceF64) { run_table<double>(); }

TEST(Matmul, ARowDoesNotDependOnItsBlock) {
  for (const runtime::Isa& isa : runtime::machine_isas()) {
    SCOPED_TRACE(isa.name);
    Product<float> all(29, 130, 257, 1), parts(29, 130, 257, 1);
    matmul(all.block(), isa.target);
    // Every row alone, and its columns in two pieces that start at other panels.
    for (std::ptrdiff_t row = 0; row < 29; ++row) {
      MatmulBlock<float> b = parts.block();
      b.a += row * b.a_row;
      b.c += row * b.c_row;
      b.rows = 1;
      b.columns = 48;
      matmul(b, isa.target);
      b.panels += 48 * b.depth;
      b.c += 48;
      b.columns = 130 - 48;
      matmul(b, isa.target);
    }
    EXPECT_EQ(all.c, parts.c);
  }
}

TEST(Matmul, PacksEveryNumberTypeAndStride) {
  const std::vector<float> w = {1, 2, 3, -4, 0.5f, 8};
  std::vector<bf16> half;
  for (const float x : w) half.push_back(to_bf16(x));
  std::vector<float> panels(2 * 16, -1), transposed(3 * 16, -1);
  pack_panels(DType::bf16, half.data(), {3, 2}, {2, 1}, 0, 1, panels.data());
  pack_panels(DType::f32, w.data(), {2, 3}, {1, 2}, 0, 1, transposed.data());
  EXPECT_EQ(panels[0], 1);
  EXPECT_EQ(panels[2], 0.5f);
  EXPECT_EQ(panels[16 + 1], -4);
  EXPECT_EQ(panels[3], 0);
  EXPECT_EQ(transposed[1], 2);
  EXPECT_EQ(transposed[32], 0.5f);
}

}  // namespace
}  // namespace attn::kernels
