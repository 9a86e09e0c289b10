// SPDX-License-Identifier: Apache-2.0
// What is done to gradients between backward() and an optimiser's step.
#pragma once

#include <attn/nn/parameters.hpp>

namespace attn::nn {

// The Euclidean norm of all gradients together, f64 sums in a fixed order. Parameters without a gradient count as
// zeros.
ATTN_API double grad_norm(const ParameterList& parameters, Context& context = default_context());

// Scales all gradients so that their norm is at most `max_norm` (Pascanu et al. 2013), as PyTorch's clip_grad_norm_;
// returns the norm before. A norm that is not finite changes nothing. Throws Error unless max_norm > 0.
ATTN_API double clip_grad_norm(const ParameterList& parameters, double max_norm, Context& context = default_context());

// The name of the first parameter whose gradient holds a NaN or an infinity; empty when all are finite.
ATTN_API std::string first_non_finite_grad(const ParameterList& parameters, Context& context = default_context());

inline namespace ATTN_ABI {

struct LossScalerOptions {
  double scale = 65536;                 // at the beginning
  double growth = 2;                    // factor after `growth_interval` steps in a row without overflow
  double backoff = 0.5;                 // factor after an overflow
  std::int64_t growth_interval = 2000;  // steps
};

}  // namespace ATTN_ABI

// Keeps small f16 gradients from rounding to 0: the loss is multiplied by a factor and gradients are divided by it
// (Micikevicius et al. 2018, section 3.2); the factor follows overflows, as PyTorch's GradScaler.
//
//   scaler.scaled(loss).backward();
//   if (scaler.unscale(parameters)) optimiser.step();
class ATTN_API LossScaler {
 public:
  explicit LossScaler(const LossScalerOptions& options = {});

  Variable scaled(const Variable& loss, Context& context = default_context()) const;
  // Divides the gradients and adapts the factor. False when one is not finite: the step is to be left out.
  bool unscale(const ParameterList& parameters, Context& context = default_context());

  double scale() const { return scale_; }
  // What a checkpoint keeps: the factor, and the steps since it last changed.
  StateDict state() const;
  void load_state(const StateDict& state);

 private:
  LossScalerOptions options_;
  double scale_;
  std::int64_t good_steps_ = 0;
};

}  // namespace attn::nn
