// SPDX-License-Identifier: Apache-2.0
#include <attn/nn/activation.hpp>

#include "gtest/gtest.h"
#include "support/tensors.hpp"

namespace attn::nn {
namespace {

TEST(ActivationNamed, KnowsTheHubsNames) {
  EXPECT_EQ(activation_named("gelu"), Activation::gelu);
  EXPECT_EQ(activation_named("gelu_new"), Activation::gelu_tanh);
  EXPECT_EQ(activation_named("gelu_pytorch_tanh"), Activation::gelu_tanh);
  EXPECT_EQ(activation_named("relu"), Activation::relu);
  EXPECT_EQ(activation_named("silu"), Activation::silu);
  EXPECT_EQ(activation_named("swish"), Activation::silu);
  EXPECT_EQ(test::message_of([] { activation_named("GELU"); }),
            "activation: \"GELU\", expected gelu, gelu_new, gelu_pytorch_tanh, relu, silu or swish");
}

}  // namespace
}  // namespace attn::nn
