// SPDX-License-Identifier: Apache-2.0
#include <attn/autograd/elementwise.hpp>
#include <attn/autograd/update.hpp>
#include <attn/error.hpp>
#include <attn/nn/gradients.hpp>
#include <cmath>

#include "base/concat.hpp"

namespace attn::nn {
namespace {

void scale_gradients(const ParameterList& parameters, double factor, Context& context) {
  for (const NamedParameter& p : parameters) {
    Tensor grad = p.variable.grad();
    if (grad.has_value()) autograd::scale_in_place(grad, factor, context);
  }
}

}  // namespace

double grad_norm(const ParameterList& parameters, Context& context) {
  double squares = 0;
  for (const NamedParameter& p : parameters) {
    const Tensor grad = p.variable.grad();
    if (grad.has_value()) squares += autograd::sum_of_squares(grad, context);
  }
  return std::sqrt(squares);
}

double clip_grad_norm(const ParameterList& parameters, double max_norm, Context& context) {
  if (!(max_norm > 0)) throw Error("clip_grad_norm", "max_norm", base::concat(max_norm, ", expected more than 0"));
  const double norm = grad_norm(parameters, context);
  // The 1e-6 is PyTorch's.
  if (std::isfinite(norm) && norm > max_norm) scale_gradients(parameters, max_norm / (norm + 1e-6), context);
  return norm;
}

std::string first_non_finite_grad(const ParameterList& parameters, Context& context) {
  for (const NamedParameter& p : parameters) {
    const Tensor grad = p.variable.grad();
    if (grad.has_value() && !std::isfinite(autograd::sum_of_squares(grad, context))) return p.name;
  }
  return {};
}

LossScaler::LossScaler(const LossScalerOptions& options) : options_(options), scale_(options.scale) {
  if (!(options.scale > 0)) throw Error("LossScaler", "scale", base::concat(options.scale, ", expected more than 0"));
}

Variable LossScaler::scaled(const Variable& loss, Context& context) const {
  return autograd::scale(loss, scale_, context);
}

bool LossScaler::unscale(const ParameterList& parameters, Context& context) {
  if (!first_non_finite_grad(parameters, context).empty()) {
    scale_ *= options_.backoff;
    good_steps_ = 0;
    return false;
  }
  scale_gradients(parameters, 1 / scale_, context);
  if (++good_steps_ == options_.growth_interval) {
    scale_ *= options_.growth;
    good_steps_ = 0;
  }
  return true;
}

StateDict LossScaler::state() const {
  return {{"scale", Tensor::of<double>({scale_}, 1)}, {"good_steps", Tensor::of<std::int64_t>({good_steps_}, 1)}};
}

void LossScaler::load_state(const StateDict& state) {
  const auto scale = state.find("scale"), good_steps = state.find("good_steps");
  if (scale == state.end() || good_steps == state.end()) {
    throw Error("LossScaler", "state", "expected scale and good_steps");
  }
  const double new_scale = scale->second.values<double>()[0];
  good_steps_ = good_steps->second.values<std::int64_t>()[0];
  scale_ = new_scale;
}

}  // namespace attn::nn
