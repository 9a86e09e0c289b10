// SPDX-License-Identifier: Apache-2.0
#include <attn/tensor.hpp>
#include <cstdint>
#include <limits>

#include "gtest/gtest.h"
#include "support/counting_resource.hpp"
#include "support/message.hpp"

namespace attn {
namespace {

using test::message_of;

TEST(Tensor, EmptyHandleHoldsNothing) {
  Tensor t;
  EXPECT_FALSE(t.has_value());
  EXPECT_EQ(t.dtype(), DType::none);
  EXPECT_EQ(t.rank(), 0);
  EXPECT_FALSE(In<2>(std::as_const(t)).wanted());
}

TEST(Tensor, CopiesShareAndClonesDoNot) {
  Tensor a = Tensor::of<float>({1, 2, 3, 4, 5, 6}, 2, 3);
  Tensor b = a, c = a.clone();
  a.view<float, 2>()(1, 2) = 60;
  EXPECT_EQ((b.view<float, 2>()(1, 2)), 60);
  EXPECT_EQ((c.view<float, 2>()(1, 2)), 6);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 64, 0u);
}

TEST(Tensor, ScalarAndZeroExtents) {
  Tensor scalar = Tensor::zeros(DType::f64);
  EXPECT_EQ(scalar.rank(), 0);
  EXPECT_EQ(scalar.size(), 1);
  Tensor none = Tensor::empty(DType::f32, 3, 0, 2);
  EXPECT_EQ(none.size(), 0);
  EXPECT_NE(none.data(), nullptr);
  EXPECT_EQ(none.clone().shape()[0], 3);
}

TEST(Tensor, StridedCloneIsRowMajor) {
  Tensor a = Tensor::of<float>({1, 2, 3, 4, 5, 6}, 2, 3);
  Tensor t = Tensor::adopt(a.view<float, 2>().transpose(0, 1), nullptr);
  EXPECT_FALSE(t.is_contiguous());
  const Tensor c = t.to(DType::bf16).to(DType::f64);
  const auto values = c.values<double>();
  EXPECT_EQ(std::vector<double>(values.begin(), values.end()), (std::vector<double>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(message_of([&] { (void)t.values<float>(); }),
            "Tensor::values: strides: not row-major, expected contiguous memory; clone() makes it so");
}

TEST(Tensor, RefusesByName) {
  const std::ptrdiff_t huge = std::numeric_limits<std::ptrdiff_t>::max() / 2;
  EXPECT_EQ(message_of([] { (void)Tensor::empty(DType::f32, 2, -1); }),
            "Tensor: shape: extent -1 in (2, -1), expected 0 or more");
  EXPECT_NE(message_of([=] { (void)Tensor::empty(DType::f32, huge, 8); }).find("larger than the address space"),
            std::string::npos);
  EXPECT_NE(message_of([=] { (void)Tensor::empty(DType::f32, huge, 8, 0); }).find("larger than the address space"),
            std::string::npos);
  Tensor t = Tensor::zeros(DType::f32, 2, 3);
  EXPECT_EQ(message_of([&] { (void)t.view<double, 2>(); }), "Tensor::view: dtype: f64 asked for, the tensor holds f32");
  EXPECT_EQ(message_of([&] { (void)t.view<float, 3>(); }),
            "Tensor::view: rank: 3 asked for, the tensor has shape (2, 3)");
  EXPECT_EQ(message_of([&] { (void)t.reshape(4, 2); }),
            "Tensor::reshape: shape: (4, 2) does not hold the 6 elements of (2, 3)");
  EXPECT_EQ(message_of([&] { (void)t.to(DType::i32); }), "Tensor::to: dtype: no conversion from f32 to i32");
  EXPECT_EQ(message_of([&] { (void)t.extent(2); }), "Tensor::extent: d: 2, expected a dimension of a tensor of rank 2");
  EXPECT_EQ(t.extent(-1), 3);
}

TEST(Tensor, ComesFromTheGivenMemory) {
  test::CountingResource memory;
  {
    const std::ptrdiff_t shape[]{4, 4};
    Tensor t = Tensor::empty(DType::f32, shape, &memory);
    EXPECT_GE(memory.used(), 16 * sizeof(float));
  }
  EXPECT_EQ(memory.used(), 0u);
}

TEST(Tensor, AnyViewRemembersAWrongRank) {
  const Tensor t = Tensor::zeros(DType::f32, 2, 3, 4);
  const In<4> in(t);
  EXPECT_EQ(in.rank_found(), 3);
  EXPECT_EQ(In<3>(t).extent(2), 4);
  const std::vector<std::ptrdiff_t> shape(260, 1);  // 260 is 4 in 8 bits
  const Tensor of_260 = Tensor::zeros(DType::f32, shape);
  EXPECT_EQ(In<4>(of_260).rank_found(), 260);
}

}  // namespace
}  // namespace attn
