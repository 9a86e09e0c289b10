// SPDX-License-Identifier: Apache-2.0
// Derivatives checked against central differences, in f64.
#pragma once

#include <attn/autograd/elementwise.hpp>
#include <attn/autograd/reduce.hpp>
#include <cmath>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "support/random.hpp"
#include "support/tensors.hpp"

namespace attn::test {

// A differentiable function and the shapes it takes: one row of a table.
struct GradientCase {
  std::string name;
  std::vector<std::vector<std::ptrdiff_t>> shapes;  // of the inputs, which are unit-normal
  std::function<autograd::Variable(const std::vector<autograd::Variable>&)> f;
  double tolerance = 1e-6;  // of the gradients' relative error in the Frobenius norm
  // Makes inputs of another kind out of normal ones: positive ones, probabilities.
  std::function<void(std::vector<Tensor>&)> prepare = {};
};
inline void PrintTo(const GradientCase& c, std::ostream* out) { *out << c.name; }

namespace detail {

// A fixed weighting of all outputs makes one number of them, so that one backward checks every output.
inline autograd::Variable weighted_sum(const autograd::Variable& y) {
  if (y.value().size() == 1 && y.value().rank() == 0) return y;
  Random random(base_seed() + 77);
  Tensor weights = Tensor::empty(DType::f64, y.shape());
  for (double& w : weights.values<double>()) w = random.normal();
  return autograd::sum(autograd::multiply(y, autograd::Variable(weights)));
}

}  // namespace detail

// Why the gradients of a case are wrong; empty when they are right. Each element of each input is moved both ways by
// 1e-5 of its size, where the error of the difference (third derivative) and of the arithmetic are about equal.
inline std::string gradient_error(const GradientCase& c, std::uint64_t seed = 1) {
  Random random(base_seed() + seed);
  std::vector<Tensor> inputs;
  for (const std::vector<std::ptrdiff_t>& shape : c.shapes) {
    inputs.push_back(Tensor::empty(DType::f64, shape));
    for (double& x : inputs.back().values<double>()) x = random.normal();
  }
  if (c.prepare) c.prepare(inputs);
  std::vector<autograd::Variable> variables;
  for (const Tensor& t : inputs) variables.emplace_back(t, true);
  detail::weighted_sum(c.f(variables)).backward();

  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor grad = variables[i].grad();
    if (!grad.has_value()) return c.name + ": input " + std::to_string(i) + " got no gradient";
    const std::vector<double> found = values_of(grad);
    double error = 0, norm = 0;
    std::span<double> x = inputs[i].values<double>();
    for (std::size_t n = 0; n < x.size(); ++n) {
      const double at = x[n], step = 1e-5 * std::max(1.0, std::abs(at));
      const auto value_at = [&](double moved) {
        const autograd::NoGrad no_grad;
        x[n] = moved;
        const autograd::Variable y = detail::weighted_sum(c.f(variables));
        x[n] = at;
        return values_of(y.value())[0];
      };
      const double expected = (value_at(at + step) - value_at(at - step)) / (2 * step);
      error += (found[n] - expected) * (found[n] - expected);
      norm += expected * expected;
    }
    // A gradient of zeros has no relative error; differences of a few 1e-11 are what arithmetic leaves of it.
    if (!(std::sqrt(error) <= c.tolerance * std::sqrt(norm) + 1e-9)) {
      return c.name + ": input " + std::to_string(i) + ": relative error " +
             std::to_string(std::sqrt(error) / std::max(std::sqrt(norm), 1e-300)) + ", allowed " +
             std::to_string(c.tolerance);
    }
  }
  return "";
}

}  // namespace attn::test
