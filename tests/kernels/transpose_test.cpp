// SPDX-License-Identifier: Apache-2.0
#include "kernels/transpose.hpp"

#include <gtest/gtest.h>

#include "runtime/isa.hpp"
#include "support/tensors.hpp"

namespace attn::kernels {
namespace {

template <class T>
void expect_turned_over(std::ptrdiff_t rows, std::ptrdiff_t columns, std::int64_t target) {
  const std::ptrdiff_t from_row = columns + 3, to_row = rows + 5;
  const std::vector<T> from = test::normal_numbers<T>(rows * from_row, 1);
  std::vector<T> to(static_cast<std::size_t>(columns * to_row), T{12345});
  transpose(from.data(), from_row, rows, columns, to.data(), to_row, target);
  for (std::ptrdiff_t c = 0; c < columns; ++c) {
    for (std::ptrdiff_t r = 0; r < to_row; ++r) {
      const T expected = r < rows ? from[static_cast<std::size_t>(r * from_row + c)] : T{12345};
      ASSERT_EQ(to[static_cast<std::size_t>(c * to_row + r)], expected) << r << ", " << c;
    }
  }
}

TEST(Transpose, PutsEveryNumberInItsPlaceAndNothingElsewhere) {
  for (const runtime::Isa& isa : runtime::machine_isas()) {
    for (const std::ptrdiff_t rows : {0, 1, 3, 8, 37}) {
      for (const std::ptrdiff_t columns : {0, 1, 2, 5, 16, 41}) {
        SCOPED_TRACE(isa.name);
        expect_turned_over<float>(rows, columns, isa.target);
        expect_turned_over<double>(rows, columns, isa.target);
      }
    }
  }
}

}  // namespace
}  // namespace attn::kernels
