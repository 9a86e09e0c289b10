// SPDX-License-Identifier: Apache-2.0
#include <attn/view.hpp>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"

namespace attn {
namespace {

TEST(View, LayoutsAgreeOnLogicalOrder) {
  std::vector<int> data(2 * 3 * 4 * 5);
  std::iota(data.begin(), data.end(), 0);
  const Shape shape{.batch = 2, .tokens = 3, .heads = 4, .dim = 5};
  const auto blhd = from_blhd(data.data(), shape);
  const auto bhld = from_bhld(data.data(), shape);
  EXPECT_EQ(blhd.extents(), (Extents<4>{2, 4, 3, 5}));
  EXPECT_EQ(bhld.extents(), (Extents<4>{2, 4, 3, 5}));
  EXPECT_EQ(blhd(1, 2, 0, 3), ((1 * 3 + 0) * 4 + 2) * 5 + 3);
  EXPECT_EQ(bhld(1, 2, 0, 3), ((1 * 4 + 2) * 3 + 0) * 5 + 3);
}

TEST(View, SliceSelectTransposeUnflattenUnsqueeze) {
  std::vector<int> data(6 * 8);
  std::iota(data.begin(), data.end(), 0);
  const auto v = view(data.data(), 6, 8);
  EXPECT_EQ(v.slice(0, 2, 5)(0, 1), 17);
  EXPECT_EQ(v.slice(0, 2, 5).extent(0), 3);
  EXPECT_EQ(v.select(1, 3)(2), 19);
  EXPECT_EQ(v.transpose(0, 1)(3, 2), 19);
  EXPECT_EQ(v.unflatten(1, 2, 4)(5, 1, 2), 46);
  EXPECT_EQ(v.unflatten(0, 2, 3)(1, 2, 0), 40);
  EXPECT_EQ(v.unsqueeze(0)(0, 1, 1), 9);
  EXPECT_EQ(v.unsqueeze(2)(1, 1, 0), 9);
}

TEST(View, NegativeAndZeroStrides) {
  int data[] = {1, 2, 3};
  const View<int, 1> backwards(data + 2, {3}, {-1});
  EXPECT_EQ(backwards(0), 3);
  const View<int, 2> repeated(data, {4, 3}, {0, 1});
  EXPECT_EQ(repeated(3, 2), 3);
  EXPECT_EQ(repeated.size(), 12);
}

}  // namespace
}  // namespace attn
