// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/nn/state_dict.hpp>

#include "base/concat.hpp"

namespace attn::nn {

StateReader::StateReader(const StateDict& state, std::string prefix, Context& context)
    : state_(&state),
      prefix_(std::move(prefix)),
      context_(&context),
      problems_(std::make_shared<std::vector<std::string>>()) {}

Tensor StateReader::take(const std::string& name, std::span<const std::ptrdiff_t> shape) {
  const std::string full = prefix_ + name;
  const auto found = state_->find(full);
  if (found == state_->end()) {
    problems_->push_back(base::concat(full, ": missing, expected shape ", base::shape_text(shape)));
    return {};
  }
  const Tensor& tensor = found->second;
  if (!std::equal(tensor.shape().begin(), tensor.shape().end(), shape.begin(), shape.end())) {
    problems_->push_back(
        base::concat(full, ": shape ", base::shape_text(tensor.shape()), ", expected ", base::shape_text(shape)));
    return {};
  }
  if (!is_floating(tensor.dtype())) {
    problems_->push_back(base::concat(full, ": dtype ", name_of(tensor.dtype()), ", expected f32, f64, bf16 or f16"));
    return {};
  }
  return tensor;
}

bool StateReader::contains(const std::string& name) const { return state_->find(prefix_ + name) != state_->end(); }

StateReader StateReader::within(const std::string& prefix) const {
  StateReader inner = *this;
  inner.prefix_ += prefix;
  return inner;
}

void StateReader::finish() const {
  if (ok()) return;
  std::string all;
  for (const std::string& problem : *problems_) all += (all.empty() ? "" : "; ") + problem;
  throw Error("state dict", "", all);
}

}  // namespace attn::nn
