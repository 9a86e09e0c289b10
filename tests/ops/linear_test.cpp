// SPDX-License-Identifier: Apache-2.0
#include <attn/linear.hpp>
#include <cmath>

#include "gtest/gtest.h"
#include "kernels/reference/epilogue.hpp"
#include "kernels/reference/matmul.hpp"
#include "support/tensors.hpp"

namespace attn {
namespace {

using test::message_of;
using test::normal_tensor;
using test::values_of;

// What linear should give, from the operands as they are stored.
std::vector<double> expected(const Tensor& x, const Tensor& w, const Tensor& bias, const Tensor& residual,
                             Activation activation) {
  const std::vector<double> a = values_of(x), b = values_of(w), shift = values_of(bias), rest = values_of(residual);
  std::vector<double> y(rest.size());
  const std::ptrdiff_t m = x.extent(0), n = w.extent(0), k = x.extent(1);
  kernels::reference::matmul(view(a.data(), m, k), view(b.data(), n, k), view(y.data(), m, n));
  for (std::size_t i = 0; i < y.size(); ++i) {
    y[i] = kernels::reference::finish(activation, y[i], shift[i % shift.size()], rest[i]);
  }
  return y;
}

TEST(Linear, EveryDtypeOfEveryOperand) {
  constexpr DType kTypes[] = {DType::f32, DType::f64, DType::bf16, DType::f16};
  for (const DType x_type : kTypes) {
    for (const DType w_type : kTypes) {
      for (const DType y_type : kTypes) {
        SCOPED_TRACE(std::string(name_of(x_type)) + " " + std::string(name_of(w_type)) + " " +
                     std::string(name_of(y_type)));
        const Tensor x = normal_tensor(x_type, 1, 5, 21), w = normal_tensor(w_type, 2, 19, 21);
        const Tensor bias = normal_tensor(y_type, 3, 19), residual = normal_tensor(x_type, 4, 5, 19);
        Tensor y = Tensor::empty(y_type, 5, 19);
        linear(x, PackedWeight(w), y, {.bias = bias, .activation = Activation::silu, .residual = residual});
        const std::vector<double> exact = expected(x, w, bias, residual, Activation::silu), found = values_of(y);
        // Results reach about 15; one rounding to the type of y, and f32 sums unless the weight is f64.
        const double unit = y_type == DType::bf16 ? 0x1p-8 : y_type == DType::f16 ? 0x1p-11 : 4e-7;
        for (std::size_t i = 0; i < exact.size(); ++i) {
          EXPECT_NEAR(found[i], exact[i], unit * (4 + std::abs(exact[i])));
        }
      }
    }
  }
}

TEST(Linear, AnyStridesAndResidualInPlace) {
  const Tensor x = normal_tensor(DType::f32, 1, 21, 7), w = normal_tensor(DType::f32, 2, 21, 70),
               bias = normal_tensor(DType::f32, 3, 70);
  Tensor plain = Tensor::empty(DType::f32, 7, 70), y = normal_tensor(DType::f32, 4, 7, 70);
  const auto xt = x.view<float, 2>().transpose(0, 1);
  const PackedWeight packed(w.view<float, 2>().transpose(0, 1));
  linear(xt, packed, plain, {.bias = bias, .residual = y.clone()});
  // y in columns of a wider array, from the last to the first.
  Tensor wide = Tensor::zeros(DType::f32, 70, 9);
  const View<float, 2> backwards(wide.view<float, 2>().data() + 69 * 9, {7, 70}, {1, -9});
  linear(xt, packed, backwards, {.bias = bias, .residual = y.clone()});
  linear(xt, packed, y, {.bias = bias, .residual = y});
  for (int r = 0; r < 7; ++r) {
    for (int c = 0; c < 70; ++c) {
      EXPECT_EQ(backwards(r, c), (plain.view<float, 2>()(r, c)));
      EXPECT_EQ((y.view<float, 2>()(r, c)), (plain.view<float, 2>()(r, c)));
    }
  }
  EXPECT_EQ((wide.view<float, 2>()(0, 7)), 0);
}

TEST(Linear, ARowHasTheSameBitsAloneAndOnAnyThreads) {
  const Tensor x = normal_tensor(DType::f32, 1, 230, 65), bias = normal_tensor(DType::f32, 3, 130);
  const PackedWeight w(normal_tensor(DType::f32, 2, 130, 65));
  const LinearOptions options{.bias = bias, .activation = Activation::gelu};
  Tensor all = Tensor::empty(DType::f32, 230, 130);
  linear(x, w, all, options);
  for (const int threads : {1, 2, 3, 7}) {
    Context context({.threads = threads});
    Tensor again = Tensor::empty(DType::f32, 230, 130);
    linear(x, w, again, options, context);
    EXPECT_TRUE(std::equal(all.values<float>().begin(), all.values<float>().end(), again.values<float>().begin()));
  }
  for (const std::ptrdiff_t row : {0, 5, 95, 96, 229}) {
    Tensor alone = Tensor::empty(DType::f32, 1, 130);
    linear(x.view<float, 2>().slice(0, row, row + 1), w, alone, options);
    EXPECT_TRUE(std::equal(alone.values<float>().begin(), alone.values<float>().end(),
                           all.values<float>().begin() + row * 130));
  }
}

TEST(Linear, ZeroExtents) {
  Tensor none = Tensor::empty(DType::f32, 0, 2), y = Tensor::empty(DType::f32, 3, 2);
  const Tensor bias = Tensor::of<float>({1, 2}, 2);
  linear(Tensor::empty(DType::f32, 0, 4), PackedWeight(Tensor::zeros(DType::f32, 2, 4)), none);
  linear(Tensor::empty(DType::f32, 3, 0), PackedWeight(Tensor::empty(DType::f32, 2, 0)), y, {.bias = bias});
  EXPECT_EQ((y.view<float, 2>()(2, 1)), 2);
}

TEST(Linear, Errors) {
  const Tensor x = Tensor::zeros(DType::f32, 3, 5);
  const PackedWeight w(Tensor::zeros(DType::f32, 2, 4));
  Tensor y = Tensor::zeros(DType::f32, 3, 2);
  EXPECT_EQ(message_of([&] { linear(x, w, y); }), "linear: x: 5 features, expected 4 as in the weight");
  const Tensor good = Tensor::zeros(DType::f32, 3, 4), words = Tensor::zeros(DType::i32, 3, 4);
  EXPECT_EQ(message_of([&] { linear(words, w, y); }), "linear: x: dtype i32, expected f32, f64, bf16 or f16");
  EXPECT_EQ(message_of([&] { linear(good, w, y, {.bias = Tensor::zeros(DType::f32, 3)}); }),
            "linear: bias: shape (3), expected (2) as the weight's outputs");
  EXPECT_EQ(message_of([&] { linear(good, w, y, {.residual = good}); }),
            "linear: residual: shape (3, 4), expected (3, 2) as in y");
  EXPECT_EQ(message_of([&] { PackedWeight(Tensor::zeros(DType::f32, 3)); }),
            "PackedWeight: weight: rank 1, expected 2");
}

}  // namespace
}  // namespace attn
