// SPDX-License-Identifier: Apache-2.0
#include "run_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <attn/error.hpp>
#include <attn/io/npy.hpp>
#include <attn/io/safetensors.hpp>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

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

// The place of a contiguous tensor's element `at`, as in "0, 3, 17".
std::string place_of(std::ptrdiff_t at, const Tensor& tensor) {
  std::vector<std::ptrdiff_t> index(tensor.shape().size());
  for (std::size_t d = index.size(); d-- > 0; at /= tensor.shape()[d]) index[d] = at % tensor.shape()[d];
  return joined(index, ", ");
}

template <class T>
std::string first_non_finite_of(const std::string& name, const Tensor& contiguous) {
  const std::span<const T> values = contiguous.values<T>();
  const auto found = std::find_if(values.begin(), values.end(), [&](T x) {
    // -inf in a bias is a mask, and meant so.
    return !std::isfinite(x) && !(name == "bias" && x == -std::numeric_limits<T>::infinity());
  });
  if (found == values.end()) return {};
  return fmt::format("{}[{}]: {}", name, place_of(found - values.begin(), contiguous), *found);
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
  const bool is_f64 = tensor.dtype() == DType::f64;
  const bool is_as_it_is = tensor.is_contiguous() && (is_f64 || tensor.dtype() == DType::f32);
  const Tensor values = is_as_it_is ? tensor : tensor.to(is_f64 ? DType::f64 : DType::f32);
  return is_f64 ? first_non_finite_of<double>(name, values) : first_non_finite_of<float>(name, values);
}

}  // namespace attn::app
