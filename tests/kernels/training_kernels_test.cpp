// SPDX-License-Identifier: Apache-2.0
// The kernels that training alone uses, on every instruction set, against the plain mathematics in f64.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/activation_backward.hpp"
#include "kernels/adam.hpp"
#include "kernels/norm_backward.hpp"
#include "kernels/reference/epilogue.hpp"
#include "kernels/softmax.hpp"
#include "runtime/isa.hpp"
#include "support/tensors.hpp"

namespace attn::kernels {
namespace {

using test::normal_numbers;

constexpr std::ptrdiff_t kSizes[] = {1, 3, 8, 37, 256};

TEST(ActivationBackward, IsTheSlopeOfTheForward) {
  for (const runtime::Isa& isa : runtime::machine_isas()) {
    for (const Activation a : {Activation::none, Activation::gelu, Activation::gelu_tanh, Activation::silu}) {
      std::vector<float> x, dy, dx(2001);
      for (int i = -1000; i <= 1000; ++i) {
        x.push_back(static_cast<float>(i) * 0.05f);
        dy.push_back(static_cast<float>(i % 7));
      }
      activation_backward(ActivationBackward<float>{x.data(), dy.data(), dx.data(), 2001, a}, isa.target);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double at = static_cast<double>(x[i]);
        const double slope = (reference::activate(a, at + 1e-5) - reference::activate(a, at - 1e-5)) / 2e-5;
        EXPECT_NEAR(dx[i], static_cast<double>(dy[i]) * slope, 1e-5) << isa.name << " at " << at;
      }
    }
  }
}

TEST(Softmax, SumsAndRaises) {
  for (const runtime::Isa& isa : runtime::machine_isas()) {
    for (const std::ptrdiff_t n : kSizes) {
      std::vector<float> x = normal_numbers<float>(n, 3), y(x.size());
      x[0] = -INFINITY;
      double sum = 0;
      for (const float v : x) sum += std::exp(static_cast<double>(v));
      const float lse = log_sum_exp(x.data(), n, isa.target);
      exp_below(x.data(), lse, n, y.data(), isa.target);
      if (n == 1) {
        EXPECT_EQ(lse, -INFINITY);
        EXPECT_EQ(y[0], 0);
        continue;
      }
      EXPECT_NEAR(lse, std::log(sum), 1e-6);
      for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i], std::exp(static_cast<double>(x[i])) / sum, 1e-6);
    }
    const float nan[] = {-INFINITY, NAN};
    EXPECT_TRUE(std::isnan(log_sum_exp(nan, 2, isa.target)));
  }
}

// sum of dy * norm(x), whose derivatives the kernels give.
double norm_loss(bool is_centred, const std::vector<double>& x, const std::vector<double>& dy,
                 const std::vector<double>& w, double eps) {
  double mean = 0, squares = 0, loss = 0;
  const double n = static_cast<double>(x.size());
  for (const double v : x) mean += is_centred ? v / n : 0;
  for (const double v : x) squares += (v - mean) * (v - mean) / n;
  for (std::size_t i = 0; i < x.size(); ++i) loss += dy[i] * w[i] * (x[i] - mean) / std::sqrt(squares + eps);
  return loss;
}

TEST(NormBackward, IsTheSlopeOfTheForward) {
  for (const runtime::Isa& isa : runtime::machine_isas()) {
    for (const std::ptrdiff_t n : {3, 8, 37}) {
      for (const bool is_centred : {false, true}) {
        std::vector<double> x = normal_numbers<double>(n, 1), w = normal_numbers<double>(n, 2);
        const std::vector<double> dy = normal_numbers<double>(n, 3);
        std::vector<double> dx(x.size()), dw(x.size(), 1.0), db(x.size(), 2.0);
        const NormBackwardRows<double> rows{x.data(), dy.data(), dx.data(), w.data(), dw.data(), db.data(), 1, n, 0.1};
        if (is_centred) {
          layer_norm_backward(rows, isa.target);
        } else {
          rms_norm_backward(rows, isa.target);
        }
        const auto slope = [&](double& at) {
          const double old = at;
          at = old + 1e-5;
          const double above = norm_loss(is_centred, x, dy, w, 0.1);
          at = old - 1e-5;
          const double below = norm_loss(is_centred, x, dy, w, 0.1);
          at = old;
          return (above - below) / 2e-5;
        };
        for (std::size_t i = 0; i < x.size(); ++i) {
          EXPECT_NEAR(dx[i], slope(x[i]), 1e-8) << isa.name;
          EXPECT_NEAR(dw[i], 1 + slope(w[i]), 1e-8) << isa.name;  // added to what was there
          EXPECT_NEAR(db[i], 2 + dy[i], 1e-12) << isa.name;
        }
      }
    }
  }
}

TEST(Adam, StepsAsItsFormula) {
  const AdamNumbers<double> n{0.1, 0.99, 0.01, 1e-8, 0.02, 0.5, 0.999, 0.03};
  for (const runtime::Isa& isa : runtime::machine_isas()) {
    for (const std::ptrdiff_t size : kSizes) {
      std::vector<double> p = normal_numbers<double>(size, 1), m = normal_numbers<double>(size, 3), v = m;
      for (double& x : v) x *= x;
      const std::vector<double> g = normal_numbers<double>(size, 2), p0 = p, m0 = m, v0 = v;
      adam(p.data(), g.data(), m.data(), v.data(), size, n, isa.target);
      for (std::size_t i = 0; i < p.size(); ++i) {
        const double grad = g[i] + 0.03 * p0[i], mean = m0[i] + 0.1 * (grad - m0[i]);
        const double square = 0.99 * v0[i] + 0.01 * grad * grad;
        EXPECT_NEAR(m[i], mean, 1e-14);
        EXPECT_NEAR(v[i], square, 1e-14);
        EXPECT_NEAR(p[i], 0.999 * p0[i] - 0.02 * mean / (std::sqrt(square) / 0.5 + 1e-8), 1e-13) << isa.name;
      }
    }
  }
}

}  // namespace
}  // namespace attn::kernels
