// SPDX-License-Identifier: Apache-2.0
#include "run_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <attn/error.hpp>
#include <attn/io/npy.hpp>
#include <attn/io/safetensors.hpp>
#include <cmath>
#include <limits>

#include "joined.hpp"

namespace attn::app {
namespace {

constexpr const char* kNames[] = {"q", "k", "v", "mask", "bias", "lengths", "sink"};

void add(RunInputs& inputs, const std::string& name, Tensor tensor, const std::filesystem::path& file) {
  const bool is_known = std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
  if (!is_known) {
    throw Error(file.string(), fmt::format("\"{}\"", name),
                fmt::format("no input of this name, expected one of {}", joined(kNames, ", ")));
  }
  if (inputs.has(name)) throw Error(file.string(), fmt::format("\"{}\"", name), "given twice");
  inputs.tensors.emplace(name, std::move(tensor));
  inputs.files.emplace(name, file.string());
}

void read_file(RunInputs& inputs, const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  if (extension == ".safetensors") {
    const io::SafeTensors tensors = io::SafeTensors::open(file);
    for (const std::string& name : tensors.names()) add(inputs, name, tensors.tensor(name), file);
  } else if (extension == ".npz") {
    for (auto& [name, tensor] : io::read_npz(file)) add(inputs, name, tensor, file);
  } else if (extension == ".npy") {
    add(inputs, file.stem().string(), io::read_npy(file), file);
  } else {
    throw Error(file.string(), "", "expected a file that ends in .safetensors, .npz or .npy");
  }
}

// Steps through a strided tensor, last dimension fastest.
class Walk {
 public:
  explicit Walk(const Tensor& t) : tensor_(t), index_(t.shape().size(), 0) {}
  std::ptrdiff_t offset() const { return offset_; }
  const std::vector<std::ptrdiff_t>& index() const { return index_; }
  void step() {
    for (std::size_t d = index_.size(); d-- > 0;) {
      offset_ += tensor_.strides()[d];
      if (++index_[d] < tensor_.shape()[d]) return;
      offset_ -= index_[d] * tensor_.strides()[d];
      index_[d] = 0;
    }
  }

 private:
  const Tensor& tensor_;
  std::vector<std::ptrdiff_t> index_;
  std::ptrdiff_t offset_ = 0;
};

double value_at(const Tensor& t, std::ptrdiff_t at) {
  switch (t.dtype()) {
    case DType::f32:
      return static_cast<const float*>(t.data())[at];
    case DType::f64:
      return static_cast<const double*>(t.data())[at];
    case DType::bf16:
      return to_float(static_cast<const bf16*>(t.data())[at]);
    case DType::f16:
      return to_float(static_cast<const f16*>(t.data())[at]);
    default:
      return 0;
  }
}

}  // namespace

RunInputs read_run_inputs(const std::vector<std::filesystem::path>& files) {
  RunInputs inputs;
  for (const std::filesystem::path& file : files) read_file(inputs, file);
  for (const char* name : {"q", "k", "v"}) {
    if (!inputs.has(name)) {
      throw Error(files.front().string(), fmt::format("\"{}\"", name), "absent, expected tensors q, k and v");
    }
  }
  return inputs;
}

In<4> as_rank_4(const RunInputs& inputs, const std::string& name) {
  const Tensor& t = inputs.at(name);
  if (t.rank() < 2 || t.rank() > 4) {
    throw Error(inputs.files.at(name), fmt::format("\"{}\"", name),
                fmt::format("rank {}, expected 2 to 4: (batch, head,) token, dim", t.rank()));
  }
  Extents<4> extents{1, 1, 1, 1}, strides;
  for (int d = 0; d < t.rank(); ++d) {
    extents[4 - t.rank() + d] = t.shape()[static_cast<std::size_t>(d)];
    strides[4 - t.rank() + d] = t.strides()[static_cast<std::size_t>(d)];
  }
  return In<4>(t.dtype(), t.data(), extents, strides);
}

std::string first_non_finite(const std::string& name, const Tensor& tensor) {
  if (!is_floating(tensor.dtype())) return {};
  Walk walk(tensor);
  for (std::ptrdiff_t i = 0; i < tensor.size(); ++i, walk.step()) {
    const double x = value_at(tensor, walk.offset());
    // -inf in a bias is a mask, and meant so.
    const bool is_meant = name == "bias" && x == -std::numeric_limits<double>::infinity();
    if (!std::isfinite(x) && !is_meant) return fmt::format("{}[{}]: {}", name, joined(walk.index(), ", "), x);
  }
  return {};
}

}  // namespace attn::app
