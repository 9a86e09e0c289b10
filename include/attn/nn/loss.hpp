// SPDX-License-Identifier: Apache-2.0
// Losses, which are differentiable functions like others.
#pragma once

#include <attn/autograd/loss.hpp>

namespace attn::nn {

using autograd::cross_entropy;
using autograd::CrossEntropyOptions;
using autograd::kl_div;
using autograd::mse_loss;

}  // namespace attn::nn
