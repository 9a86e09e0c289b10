// SPDX-License-Identifier: Apache-2.0
// Layers for inference, with PyTorch's names of parameters.
#pragma once

#include <attn/nn/activation.hpp>
#include <attn/nn/embedding.hpp>
#include <attn/nn/input.hpp>
#include <attn/nn/linear.hpp>
#include <attn/nn/norm.hpp>
#include <attn/nn/state_dict.hpp>
