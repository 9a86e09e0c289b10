// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/tensor.hpp>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace attn::app {

// Tensors by name ("q", "k", "v", and perhaps "mask", "bias", "lengths", "sink") from one safetensors or npz file, or
// from one .npy file each, named by the part of the file name before the dot. Throws Error for other kinds of file,
// names that mean nothing here, and q, k or v that is absent.
struct RunInputs {
  std::map<std::string, Tensor> tensors;
  std::map<std::string, std::string> files;  // where each came from

  const Tensor& at(const std::string& name) const { return tensors.at(name); }
  bool has(const std::string& name) const { return tensors.count(name) != 0; }
};
RunInputs read_run_inputs(const std::vector<std::filesystem::path>& files);

// A tensor of rank 2 to 4 as (batch, head, token, dim), without a copy.
In<4> as_rank_4(const RunInputs& inputs, const std::string& name);

// The first element that is NaN or infinite, as "q[0, 3, 17]: nan"; empty when all are finite, but for -inf
// in a bias, which hides a pair.
std::string first_non_finite(const std::string& name, const Tensor& tensor);

}  // namespace attn::app
