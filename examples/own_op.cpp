// SPDX-License-Identifier: Apache-2.0
// An op of your own on the tape: what it computes, and what its derivative does with the gradient of its result.
#include <attn/autograd.hpp>
#include <cmath>
#include <cstdio>

namespace ag = attn::autograd;
using attn::Tensor;

// y = sin(x), and so dx = cos(x) dy.
ag::Variable sine(const ag::Variable& x) {
  Tensor y = Tensor::empty(attn::DType::f64, x.shape());
  for (std::ptrdiff_t i = 0; i < y.size(); ++i) y.values<double>()[i] = std::sin(x.value().values<double>()[i]);
  return ag::record("sine", {x}, y, [x](const Tensor& dy, attn::Context&) {
    Tensor dx = Tensor::empty(attn::DType::f64, x.shape());
    for (std::ptrdiff_t i = 0; i < dx.size(); ++i) {
      dx.values<double>()[i] = std::cos(x.value().values<double>()[i]) * dy.values<double>()[i];
    }
    return std::vector{dx};
  });
}

int main() {
  const ag::Variable x(Tensor::of<double>({0, 1, 2}, 3), true);
  ag::sum(ag::multiply(sine(x), x)).backward();
  const Tensor grad = x.grad();
  for (int i = 0; i < 3; ++i) {
    const double at = x.value().values<double>()[i];
    std::printf("d(x sin x)/dx at %.0f: %+.6f, by hand %+.6f\n", at, grad.values<double>()[i],
                std::sin(at) + at * std::cos(at));
  }
}
