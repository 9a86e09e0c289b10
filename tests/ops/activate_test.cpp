// SPDX-License-Identifier: Apache-2.0
#include <attn/activate.hpp>

#include "gtest/gtest.h"
#include "kernels/reference/epilogue.hpp"
#include "support/tensors.hpp"

namespace attn {
namespace {

TEST(Activate, EveryFormAndDtypeInPlace) {
  for (const Activation activation :
       {Activation::none, Activation::gelu, Activation::gelu_tanh, Activation::relu, Activation::silu}) {
    for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
      const Tensor x = Tensor::of<float>({-3, -1, -0.25f, 0, 0.5f, 2}, 2, 3);
      Tensor y = x.to(dtype);
      const Out<2> half(dtype, y.data(), {2, 3}, {3, 1});
      activate(half, half, activation);
      const double unit = dtype == DType::bf16  ? 0x1p-8
                          : dtype == DType::f16 ? 0x1p-11
                          : dtype == DType::f32 ? 2e-7
                                                : 1e-15;
      for (std::size_t i = 0; i < 6; ++i) {
        const double expected = kernels::reference::activate(activation, x.values<float>()[i]);
        EXPECT_NEAR(test::values_of(y)[i], expected, 2 * unit);
      }
    }
  }
}

}  // namespace
}  // namespace attn
