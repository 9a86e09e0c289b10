// SPDX-License-Identifier: Apache-2.0
#include <attn/error.hpp>
#include <attn/nn/activation.hpp>

#include "base/concat.hpp"

namespace attn::nn {

Activation activation_named(std::string_view name, std::string_view where, std::string_view argument) {
  if (name == "gelu") return Activation::gelu;
  if (name == "gelu_new" || name == "gelu_pytorch_tanh") return Activation::gelu_tanh;
  if (name == "relu") return Activation::relu;
  if (name == "silu" || name == "swish") return Activation::silu;
  throw Error(where, argument,
              base::concat('"', name, "\", expected gelu, gelu_new, gelu_pytorch_tanh, relu, silu or swish"));
}

}  // namespace attn::nn
