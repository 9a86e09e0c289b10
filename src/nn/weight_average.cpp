// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/autograd/update.hpp>
#include <attn/error.hpp>
#include <attn/nn/weight_average.hpp>

#include "base/concat.hpp"

namespace attn::nn {

WeightAverage::WeightAverage(ParameterList parameters, double decay)
    : parameters_(std::move(parameters)), decay_(decay) {
  if (!(decay >= 0 && decay < 1)) {
    throw Error("WeightAverage", "decay", base::concat(decay, ", expected 0 to below 1"));
  }
  for (const NamedParameter& p : parameters_) {
    const Tensor& value = p.variable.value();
    if (!value.is_contiguous() || (value.dtype() != DType::f32 && value.dtype() != DType::f64)) {
      throw Error("WeightAverage", p.name, "expected a row-major tensor of f32 or f64");
    }
    means_.push_back(value.clone());
  }
}

void WeightAverage::update(Context& context) {
  ++steps_;
  const double t = static_cast<double>(steps_), keep = std::min(decay_, (1 + t) / (10 + t));
  for (std::size_t i = 0; i < means_.size(); ++i) {
    autograd::average_update(means_[i], parameters_[i].variable.value(), keep, context);
  }
}

void WeightAverage::exchange() {
  for (std::size_t i = 0; i < means_.size(); ++i) {
    Tensor value = parameters_[i].variable.value();  // the same memory
    auto *a = static_cast<std::byte*>(value.data()), *b = static_cast<std::byte*>(means_[i].data());
    std::swap_ranges(a, a + value.size() * static_cast<std::ptrdiff_t>(size_of(value.dtype())), b);
  }
}

StateDict WeightAverage::state() const {
  StateDict state{{"step", Tensor::of<std::int64_t>({steps_}, 1)}};
  for (std::size_t i = 0; i < means_.size(); ++i) state["mean." + parameters_[i].name] = means_[i].clone();
  return state;
}

void WeightAverage::load_state(const StateDict& state) {
  StateReader reader(state);
  std::vector<Tensor> loaded;
  for (std::size_t i = 0; i < means_.size(); ++i) {
    const std::string name = "mean." + parameters_[i].name;
    const Tensor mean = reader.take(name, means_[i].shape());
    if (mean.has_value() && mean.dtype() != means_[i].dtype()) {
      reader.report(base::concat(name, ": dtype ", name_of(mean.dtype()), ", expected ", name_of(means_[i].dtype())));
    }
    loaded.push_back(mean.has_value() ? mean.clone() : mean);
  }
  const auto step = state.find("step");
  if (step == state.end() || step->second.dtype() != DType::i64 || step->second.size() != 1) {
    reader.report("step: missing, expected one i64");
  }
  if (reader.ok() && state.size() != means_.size() + 1) {
    reader.report(base::concat("found ", state.size(), " tensors, expected the ", means_.size() + 1, " of this mean"));
  }
  reader.finish();
  means_ = std::move(loaded);
  steps_ = step->second.values<std::int64_t>()[0];
}

}  // namespace attn::nn
