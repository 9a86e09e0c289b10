// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/activation.hpp>
#include <attn/export.hpp>
#include <string_view>

namespace attn::nn {

using attn::Activation;

// The activation that Hugging Face configurations call "gelu", "gelu_new", "gelu_pytorch_tanh", "relu", "silu" or
// "swish". Throws Error listing these for any other name.
ATTN_API Activation activation_named(std::string_view name);

}  // namespace attn::nn
