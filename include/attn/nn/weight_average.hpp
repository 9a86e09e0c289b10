// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/nn/parameters.hpp>

namespace attn::nn {

// A running mean of parameters, which often does better on held-out data than the parameters of any one step (Polyak &
// Juditsky 1992). After step t, from 1, mean = keep * mean + (1 - keep) * parameter with
// keep = min(decay, (1 + t) / (10 + t)), so that a mean does not begin with the numbers that parameters started from.
//
//   optimiser.step();
//   average.update();
//   ...
//   average.exchange();  // the layers compute with the means
//   evaluate();
//   average.exchange();  // and training goes on with what it had, to the bit
//
// Holds one number for each of the parameters', in their dtype: f32 or f64.
class ATTN_API WeightAverage {
 public:
  // Throws Error for a decay that is not 0 to below 1, and for a parameter that is not row-major f32 or f64.
  WeightAverage(ParameterList parameters, double decay);

  // Adds the parameters as they are. Time O(parameters), at the speed of memory.
  void update(Context& context = default_context());
  // Swaps parameters and means in place; a second time brings both back.
  void exchange();

  std::int64_t steps() const { return steps_; }

  // The means by the parameters' names, and "step": read back by load_state, averaging goes on with the same bits.
  // Copies. To be taken while the parameters are in their own place.
  StateDict state() const;
  // Throws Error, and changes nothing, with the name of every tensor that is missing, misshapen or unknown.
  void load_state(const StateDict& state);

 private:
  ParameterList parameters_;
  double decay_;
  std::vector<Tensor> means_;
  std::int64_t steps_ = 0;
};

}  // namespace attn::nn
