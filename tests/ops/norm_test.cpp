// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference/norm.hpp"

#include <attn/norm.hpp>

#include "gtest/gtest.h"
#include "support/tensors.hpp"

namespace attn {
namespace {

constexpr std::ptrdiff_t kRows = 40, kColumns = 50;

using test::message_of;
using test::normal_tensor;

void expect_rows(DType dtype, double tolerance) {
  const Tensor x = normal_tensor(dtype, 1, kRows, kColumns), xd = x.to(DType::f64);
  const Tensor weight = normal_tensor(DType::bf16, 2, kColumns), weight_d = weight.to(DType::f64);
  const Tensor bias = normal_tensor(DType::f32, 3, kColumns), bias_d = bias.to(DType::f64);
  Tensor layer = Tensor::empty(dtype, kRows, kColumns), rms = Tensor::empty(dtype, kRows, kColumns);
  layer_norm(x, layer, {.weight = weight, .bias = bias, .eps = 1e-6});
  rms_norm(x, rms, {.weight = weight, .eps = 1e-6});
  const Tensor layer_d = layer.to(DType::f64), rms_d = rms.to(DType::f64);
  Tensor row = Tensor::empty(DType::f64, kColumns);
  const View<double, 1> expected = row.view<double, 1>();
  for (std::ptrdiff_t r = 0; r < kRows; ++r) {
    const View<const double, 1> from = xd.view<double, 2>().select(0, r), w = weight_d.view<double, 1>();
    kernels::reference::layer_norm(from, w, bias_d.view<double, 1>(), 1e-6, expected);
    for (std::ptrdiff_t c = 0; c < kColumns; ++c)
      EXPECT_NEAR((layer_d.view<double, 2>()(r, c)), expected(c), tolerance);
    kernels::reference::rms_norm(from, w, 1e-6, expected);
    for (std::ptrdiff_t c = 0; c < kColumns; ++c) EXPECT_NEAR((rms_d.view<double, 2>()(r, c)), expected(c), tolerance);
  }
}

// Results reach about 8; f64 and f32 round a few times, bf16 once at the end (half of 2^-7 of 8).
TEST(Norm, F64) { expect_rows(DType::f64, 1e-14); }
TEST(Norm, F32) { expect_rows(DType::f32, 4e-6); }
TEST(Norm, Bf16) { expect_rows(DType::bf16, 0.04); }

TEST(Norm, InPlaceOnAnyThreadsWithAnyStrides) {
  Tensor x = normal_tensor(DType::f32, 1, kColumns, kRows), expected = Tensor::empty(DType::f32, kRows, kColumns);
  const View<float, 2> transposed = x.view<float, 2>().transpose(0, 1);
  Context one({.threads = 1}), three({.threads = 3});
  layer_norm(transposed, expected, {}, one);
  layer_norm(transposed, transposed, {}, three);
  for (std::ptrdiff_t r = 0; r < kRows; ++r) {
    for (std::ptrdiff_t c = 0; c < kColumns; ++c) EXPECT_EQ(transposed(r, c), (expected.view<float, 2>()(r, c)));
  }
}

TEST(Norm, Errors) {
  const Tensor x = Tensor::zeros(DType::f32, 3, 5);
  Tensor y = Tensor::zeros(DType::f32, 3, 5);
  EXPECT_EQ(message_of([&] { layer_norm(x, y, {.weight = Tensor::zeros(DType::f32, 4)}); }),
            "layer_norm: weight: shape (4), expected (5) as x's features");
  EXPECT_EQ(message_of([&] { rms_norm(x, y, {.eps = -1}); }), "rms_norm: eps: -1, expected 0 or more");
}

}  // namespace
}  // namespace attn
