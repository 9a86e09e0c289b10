// SPDX-License-Identifier: Apache-2.0
// Layers for inference, with PyTorch's names of parameters.
#pragma once

#include <attn/nn/activation.hpp>
#include <attn/nn/embedding.hpp>
#include <attn/nn/encoder_layer.hpp>
#include <attn/nn/input.hpp>
#include <attn/nn/linear.hpp>
#include <attn/nn/multi_head_attention.hpp>
#include <attn/nn/norm.hpp>
#include <attn/nn/positions.hpp>
#include <attn/nn/self_attention.hpp>
#include <attn/nn/state_dict.hpp>
