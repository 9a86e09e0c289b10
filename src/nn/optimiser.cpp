// SPDX-License-Identifier: Apache-2.0
#include <attn/autograd/update.hpp>
#include <attn/error.hpp>
#include <attn/nn/optimiser.hpp>
#include <cmath>

#include "base/concat.hpp"

namespace attn::nn {
namespace {

bool is_narrow(DType t) { return t == DType::bf16 || t == DType::f16; }

void check_rate(std::string_view where, double lr) {
  if (!(lr >= 0)) throw Error(where, "lr", base::concat(lr, ", expected 0 or more"));
}

}  // namespace

Optimiser::Optimiser(ParameterList parameters, double learning_rate, std::vector<std::string> moments)
    : parameters_(std::move(parameters)),
      learning_rate_(learning_rate),
      names_(std::move(moments)),
      slots_(parameters_.size()) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Tensor& value = parameters_[i].variable.value();
    if (!value.is_contiguous() || !is_floating(value.dtype())) {
      throw Error("Optimiser", parameters_[i].name, "expected a row-major tensor of floating numbers");
    }
    if (is_narrow(value.dtype())) slots_[i].master = value.to(DType::f32);
    const DType dtype = is_narrow(value.dtype()) ? DType::f32 : value.dtype();
    for (std::size_t m = 0; m < names_.size(); ++m) slots_[i].moments.push_back(Tensor::zeros(dtype, value.shape()));
  }
}

Optimiser::~Optimiser() = default;

void Optimiser::step(Context& context) {
  ++steps_;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Tensor grad = parameters_[i].variable.grad();
    if (!grad.has_value()) continue;
    Slot& slot = slots_[i];
    Tensor value = parameters_[i].variable.value();
    Tensor& changed = slot.master.has_value() ? slot.master : value;
    update({changed, grad, slot.moments, steps_, steps_ == 1}, context);
    if (slot.master.has_value()) autograd::assign(value, slot.master, context);
  }
}

void Optimiser::zero_grad() {
  for (const NamedParameter& p : parameters_) p.variable.zero_grad();
}

StateDict Optimiser::state() const {
  StateDict state{{"step", Tensor::of<std::int64_t>({steps_}, 1)}};
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const std::string prefix = parameters_[i].name + ".";
    if (slots_[i].master.has_value()) state[prefix + "master"] = slots_[i].master.clone();
    for (std::size_t m = 0; m < names_.size(); ++m) state[prefix + names_[m]] = slots_[i].moments[m].clone();
  }
  return state;
}

void Optimiser::load_state(const StateDict& state) {
  StateReader reader(state);
  std::vector<Slot> loaded(slots_.size());
  std::size_t expected = 1;
  const auto take = [&](const std::string& name, const Tensor& like) {
    ++expected;
    const Tensor t = reader.take(name, like.shape());
    if (t.has_value() && t.dtype() != like.dtype()) {
      reader.report(base::concat(name, ": dtype ", name_of(t.dtype()), ", expected ", name_of(like.dtype())));
    }
    return t.has_value() ? t.clone() : t;
  };
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const std::string prefix = parameters_[i].name + ".";
    if (slots_[i].master.has_value()) loaded[i].master = take(prefix + "master", slots_[i].master);
    for (std::size_t m = 0; m < names_.size(); ++m) {
      loaded[i].moments.push_back(take(prefix + names_[m], slots_[i].moments[m]));
    }
  }
  const auto step = state.find("step");
  if (step == state.end() || step->second.dtype() != DType::i64 || step->second.size() != 1) {
    reader.report("step: missing, expected one i64");
  }
  if (reader.ok() && state.size() != expected) {
    reader.report(base::concat("found ", state.size(), " tensors, expected the ", expected, " of this optimiser"));
  }
  reader.finish();
  slots_ = std::move(loaded);
  steps_ = step->second.values<std::int64_t>()[0];
}

Sgd::Sgd(ParameterList parameters, const SgdOptions& options)
    : Optimiser(std::move(parameters), options.lr,
                options.momentum != 0 ? std::vector<std::string>{"momentum_buffer"} : std::vector<std::string>()),
      options_(options) {
  check_rate("Sgd", options.lr);
  if (options.nesterov && (options.momentum <= 0 || options.dampening != 0)) {
    throw Error("Sgd", "nesterov", "expected a momentum, and no dampening");
  }
}

void Sgd::update(const Update& u, Context& context) {
  Tensor none;
  autograd::sgd_update(u.parameter, u.grad, u.moments.empty() ? none : u.moments[0],
                       {.rate = learning_rate(),
                        .momentum = options_.momentum,
                        .dampening = options_.dampening,
                        .decay = options_.weight_decay,
                        .nesterov = options_.nesterov,
                        .first = u.is_first},
                       context);
}

namespace {

std::vector<std::string> adam_moments() { return {"exp_avg", "exp_avg_sq"}; }

void check_adam(std::string_view where, const AdamOptions& o) {
  check_rate(where, o.lr);
  if (!(o.beta1 >= 0 && o.beta1 < 1)) throw Error(where, "beta1", base::concat(o.beta1, ", expected 0 to below 1"));
  if (!(o.beta2 >= 0 && o.beta2 < 1)) throw Error(where, "beta2", base::concat(o.beta2, ", expected 0 to below 1"));
  if (!(o.eps >= 0)) throw Error(where, "eps", base::concat(o.eps, ", expected 0 or more"));
  if (!(o.weight_decay >= 0)) throw Error(where, "weight_decay", base::concat(o.weight_decay, ", expected 0 or more"));
}

autograd::AdamStep adam_step(const AdamOptions& o, double rate, std::int64_t step) {
  const double t = static_cast<double>(step);
  return {.beta1 = o.beta1,
          .beta2 = o.beta2,
          .eps = o.eps,
          .step_size = rate / (1 - std::pow(o.beta1, t)),
          .root = std::sqrt(1 - std::pow(o.beta2, t))};
}

}  // namespace

Adam::Adam(ParameterList parameters, const AdamOptions& options)
    : Optimiser(std::move(parameters), options.lr, adam_moments()), options_(options) {
  check_adam("Adam", options);
}

void Adam::update(const Update& u, Context& context) {
  autograd::AdamStep step = adam_step(options_, learning_rate(), u.step);
  step.decay_grad = options_.weight_decay;
  autograd::adam_update(u.parameter, u.grad, u.moments[0], u.moments[1], step, context);
}

AdamW::AdamW(ParameterList parameters, const AdamOptions& options)
    : Optimiser(std::move(parameters), options.lr, adam_moments()), options_(options) {
  check_adam("AdamW", options);
}

void AdamW::update(const Update& u, Context& context) {
  autograd::AdamStep step = adam_step(options_, learning_rate(), u.step);
  step.shrink = 1 - learning_rate() * options_.weight_decay;
  autograd::adam_update(u.parameter, u.grad, u.moments[0], u.moments[1], step, context);
}

}  // namespace attn::nn
