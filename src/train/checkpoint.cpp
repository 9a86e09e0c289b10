// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/error.hpp>
#include <attn/io/safetensors.hpp>
#include <attn/train/checkpoint.hpp>
#include <cstring>
#include <vector>

#include "base/concat.hpp"
#include "io/json.hpp"

namespace attn::train {
namespace {

constexpr std::string_view kModel = "model.", kOptimizer = "optimizer.";

bool has_prefix(const std::string& name, std::string_view prefix) { return name.starts_with(prefix); }

// "; missing "a", "b"" or nothing.
std::string list(std::string_view what, const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items)
    text += base::concat(text.empty() ? "; " : ", ", text.empty() ? what : "", item);
  return text;
}

// Copies the tensors PREFIX + name, once all of them are known to fit.
void load(const io::SafeTensors& file, const std::string& where, std::string_view prefix,
          const nn::ParameterList& parameters) {
  std::vector<std::string> missing, extra, misshapen;
  for (const auto& [name, variable] : parameters) {
    const std::string stored = std::string(prefix) + name;
    if (!file.contains(stored)) {
      missing.push_back(io::quote(name));
      continue;
    }
    const io::TensorInfo& info = file.info(stored);
    if (info.dtype != DType::f32 || !std::ranges::equal(info.shape, variable.shape())) {
      misshapen.push_back(base::concat(io::quote(name), ' ', name_of(info.dtype), ' ', base::shape_text(info.shape),
                                       ", expected f32 ", base::shape_text(variable.shape())));
    }
  }
  for (const std::string& stored : file.names()) {
    if (!has_prefix(stored, prefix)) continue;
    const std::string name = stored.substr(prefix.size());
    const auto is_it = [&](const nn::NamedParameter& p) { return p.name == name; };
    if (std::none_of(parameters.begin(), parameters.end(), is_it)) extra.push_back(io::quote(name));
  }
  if (!missing.empty() || !extra.empty() || !misshapen.empty()) {
    throw Error(where, "",
                base::concat("does not fit the model", list("missing: ", missing), list("unknown: ", extra),
                             list("misshapen: ", misshapen)));
  }
  for (const auto& [name, variable] : parameters) {
    const Tensor from = file.tensor(std::string(prefix) + name);
    Tensor to = variable.value();  // the same memory
    std::memcpy(to.data(), from.data(), static_cast<std::size_t>(to.size()) * sizeof(float));
  }
}

}  // namespace

void save_weights(const std::filesystem::path& file, const nn::ParameterList& parameters) {
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, variable] : parameters) tensors.emplace(name, variable.value());
  io::write_safetensors(file, tensors);
}

void load_weights(const std::filesystem::path& file, const nn::ParameterList& parameters) {
  load(io::SafeTensors::open(file), file.string(), "", parameters);
}

void save_checkpoint(const std::filesystem::path& file, const nn::ParameterList& parameters,
                     const Checkpoint& checkpoint) {
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, variable] : parameters) {
    tensors.emplace(std::string(kModel) + name, variable.value());
  }
  for (const auto& [name, tensor] : checkpoint.optimizer) tensors.emplace(std::string(kOptimizer) + name, tensor);
  io::write_safetensors(file, tensors, checkpoint.state);
}

Checkpoint load_checkpoint(const std::filesystem::path& file, const nn::ParameterList& parameters) {
  const io::SafeTensors tensors = io::SafeTensors::open(file);
  load(tensors, file.string(), kModel, parameters);
  Checkpoint checkpoint;
  checkpoint.state = tensors.metadata();
  for (const std::string& name : tensors.names()) {
    if (!has_prefix(name, kOptimizer)) continue;
    // A copy: the file is replaced while training goes on.
    checkpoint.optimizer.emplace(name.substr(kOptimizer.size()), tensors.tensor(name).clone());
  }
  return checkpoint;
}

}  // namespace attn::train
