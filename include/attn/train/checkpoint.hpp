// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/nn/parameters.hpp>
#include <attn/tensor.hpp>
#include <filesystem>
#include <map>
#include <string>

namespace attn::train {

// The weights of a model as one safetensors file, whole or not at all.
ATTN_API void save_weights(const std::filesystem::path& file, const nn::ParameterList& parameters);
// Copies weights into a model of the same shape. Throws Error, and changes nothing, when the file does not fit: the
// sentence names every tensor that is missing, unknown, or of another shape or dtype.
ATTN_API void load_weights(const std::filesystem::path& file, const nn::ParameterList& parameters);

// All that a run needs to go on as if it had never stopped: weights, the optimiser's tensors, and where it is.
struct Checkpoint {
  nn::StateDict optimizer = {};
  std::map<std::string, std::string> state = {};
};
// One file, so that its parts cannot be of different steps; written whole or not at all, so that a full disk or a
// sudden end leaves the one before.
ATTN_API void save_checkpoint(const std::filesystem::path& file, const nn::ParameterList& parameters,
                              const Checkpoint& checkpoint);
// Throws Error as load_weights does.
ATTN_API Checkpoint load_checkpoint(const std::filesystem::path& file, const nn::ParameterList& parameters);

}  // namespace attn::train
