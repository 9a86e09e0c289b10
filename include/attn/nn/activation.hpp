// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/activation.hpp>
#include <attn/export.hpp>
#include <string_view>

namespace attn::nn {

using attn::Activation;

// The activation that Hugging Face configurations call "gelu", "gelu_new", "gelu_pytorch_tanh", "relu", "silu" or
// "swish". Throws Error listing these for any other name; `where` and `argument` say in it where the name stands.
ATTN_API Activation activation_named(std::string_view name, std::string_view where = "activation",
                                     std::string_view argument = {});

}  // namespace attn::nn
