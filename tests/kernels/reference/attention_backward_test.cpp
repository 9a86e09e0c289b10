// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference/attention_backward.hpp"

#include <array>
#include <cmath>
#include <iostream>
#include <limits>

#include "gtest/gtest.h"
#include "support/attention_cases.hpp"
#include "support/attention_data.hpp"
#include "support/attention_spec.hpp"
#include "support/random.hpp"

namespace attn::test {
namespace {

using kernels::reference::AttentionInputGrads;
using Numbers = std::vector<double>;

// A case of the table in f64 throughout, whose operands can be moved, with a loss sum(out grad_out) + sum(lse
// grad_lse).
class Slope {
 public:
  explicit Slope(const AttentionCase& c) : data_(in_f64(c)), random_(c.seed + 1000) {
    operands_ = {numbers(data_.q.in()), numbers(data_.k.in()), numbers(data_.v.in()), {}, {}};
    if (data_.spec.bias.wanted()) operands_[3] = numbers(data_.spec.bias);
    if (data_.spec.sink.wanted()) operands_[4] = numbers(data_.spec.sink);
    const Extents<4>& q = data_.q.extents();
    out_ = {q[0], q[1], q[2], c.dims.v};
    grad_out_ = normal(static_cast<std::size_t>(out_.product()));
    grad_lse_ = normal(static_cast<std::size_t>(q[0] * q[1] * q[2]));
  }

  AttentionInputGrads gradient() const {
    const AttentionSpec spec = spec_of(operands_);
    return reference_attention_backward(view_of(operands_[0], data_.q), view_of(operands_[1], data_.k),
                                        view_of(operands_[2], data_.v), spec,
                                        {.out = In<4>(DType::f64, grad_out_.data(), out_, row_major(out_)),
                                         .lse = view(grad_lse_.data(), out_[0], out_[1], out_[2])});
  }

  // The largest distance of a derivative by an operand, along a random direction, from the one that central differences
  // give, relative to the gradient's norm.
  double error() {
    const AttentionInputGrads g = gradient();
    const Numbers* gradients[] = {&g.dq, &g.dk, &g.dv, &g.dbias, &g.dsink};
    double worst = 0;
    for (std::size_t o = 0; o < operands_.size(); ++o) {
      const Numbers& gradient = *gradients[o];
      if (gradient.size() != operands_[o].size()) return HUGE_VAL;
      if (gradient.empty()) continue;
      const Numbers direction = normal(gradient.size());
      double exact = 0, square = 0;
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        exact += gradient[i] * direction[i];
        square += gradient[i] * gradient[i];
      }
      worst = std::max(worst, relative(difference(o, direction), exact, std::sqrt(square)));
    }
    return worst;
  }

 private:
  // The options stay as they are; memory is dense, so that each element has a place of its own.
  static AttentionCase in_f64(AttentionCase c) {
    c.q = c.k = c.v = c.options_dtype = DType::f64;
    c.q_layout = c.k_layout = c.v_layout = Layout::dense;
    return c;
  }
  static Numbers numbers(const In<4>& x) {
    Numbers all;
    for (std::ptrdiff_t b = 0; b < x.extent(0); ++b) {
      for (std::ptrdiff_t h = 0; h < x.extent(1); ++h) {
        for (std::ptrdiff_t i = 0; i < x.extent(2); ++i) {
          for (std::ptrdiff_t j = 0; j < x.extent(3); ++j) all.push_back(x.as<const double>()(b, h, i, j));
        }
      }
    }
    return all;
  }
  static Numbers numbers(const In<1>& x) {
    Numbers all;
    for (std::ptrdiff_t h = 0; h < x.extent(0); ++h) all.push_back(x.as<const double>()(h));
    return all;
  }
  Numbers normal(std::size_t count) {
    Numbers all(count);
    for (double& x : all) x = random_.normal();
    return all;
  }
  static In<4> view_of(const Numbers& x, const GuardedArray<4>& like) {
    return {DType::f64, x.data(), like.extents(), row_major(like.extents())};
  }
  AttentionSpec spec_of(const std::array<Numbers, 5>& operands) const {
    AttentionSpec spec = data_.spec;
    if (spec.bias.wanted()) {
      spec.bias = {DType::f64, operands[3].data(), spec.bias.extents(), row_major(spec.bias.extents())};
    }
    if (spec.sink.wanted()) spec.sink = view(operands[4].data(), spec.sink.extent(0));
    return spec;
  }
  double loss(const std::array<Numbers, 5>& operands) const {
    const auto result = reference_attention(view_of(operands[0], data_.q), view_of(operands[1], data_.k),
                                            view_of(operands[2], data_.v), spec_of(operands));
    double sum = 0;
    for (std::size_t i = 0; i < result.out.size(); ++i) sum += result.out[i] * grad_out_[i];
    // The lse of a row without keys is -inf, and stays so.
    for (std::size_t i = 0; i < result.lse.size(); ++i) {
      if (std::isfinite(result.lse[i])) sum += result.lse[i] * grad_lse_[i];
    }
    return sum;
  }
  // The derivative of the loss by an operand along a direction, from four points (error of the order of the step's
  // fourth power).
  double difference(std::size_t operand, const Numbers& direction) const {
    constexpr double kStep = 1e-3;
    const auto at = [&](double step) {
      std::array<Numbers, 5> moved = operands_;
      for (std::size_t i = 0; i < direction.size(); ++i) moved[operand][i] += step * direction[i];
      return loss(moved);
    };
    return (8 * (at(kStep) - at(-kStep)) - (at(2 * kStep) - at(-2 * kStep))) / (12 * kStep);
  }
  static double relative(double found, double expected, double norm) {
    const double distance = std::abs(found - expected);
    return distance == 0 ? 0 : distance / norm;
  }

  AttentionData data_;
  Random random_;
  std::array<Numbers, 5> operands_;  // q, k, v, bias, sink
  Extents<4> out_;
  Numbers grad_out_, grad_lse_;
};

TEST(ReferenceAttentionBackward, EveryCaseAgreesWithCentralDifferences) {
  double worst = 0;
  for (const AttentionCase& c : attention_cases()) {
    const double error = Slope(c).error();
    EXPECT_LT(error, 1e-6) << c.name();
    worst = std::max(worst, error);
  }
  std::cout << attention_cases().size() << " cases, largest relative error " << worst << '\n';
}

}  // namespace
}  // namespace attn::test
