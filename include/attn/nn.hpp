// SPDX-License-Identifier: Apache-2.0
// Layers for inference and training, with PyTorch's names of parameters; losses, optimisers.
#pragma once

#include <attn/nn/activation.hpp>
#include <attn/nn/decoder_layer.hpp>
#include <attn/nn/dropout_stream.hpp>
#include <attn/nn/embedding.hpp>
#include <attn/nn/encoder_layer.hpp>
#include <attn/nn/gradients.hpp>
#include <attn/nn/input.hpp>
#include <attn/nn/linear.hpp>
#include <attn/nn/loss.hpp>
#include <attn/nn/multi_head_attention.hpp>
#include <attn/nn/norm.hpp>
#include <attn/nn/optimiser.hpp>
#include <attn/nn/parameters.hpp>
#include <attn/nn/positions.hpp>
#include <attn/nn/schedule.hpp>
#include <attn/nn/self_attention.hpp>
#include <attn/nn/state_dict.hpp>
#include <attn/nn/weight_average.hpp>
