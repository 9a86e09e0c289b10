// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <attn/autograd.hpp>

#include "support/tensors.hpp"

namespace attn::autograd {
namespace {

using test::message_of;
using test::values_of;

Variable leaf(std::initializer_list<float> values) {
  return Variable(Tensor::of<float>(values, static_cast<std::ptrdiff_t>(values.size())), true);
}

TEST(Variable, AddsUpTheGradientsOfSeveralUsesAndCalls) {
  const Variable x = leaf({1, 2, 3});
  sum(add(multiply(x, x), x)).backward();
  EXPECT_EQ(values_of(x.grad()), (std::vector<double>{3, 5, 7}));
  sum(x).backward();
  EXPECT_EQ(values_of(x.grad()), (std::vector<double>{4, 6, 8}));
  x.zero_grad();
  EXPECT_FALSE(x.grad().has_value());
}

TEST(Variable, GivesLeavesGradientsOfTheirOwn) {
  const Variable a = leaf({1, 2}), b = leaf({3, 4});
  sum(add(a, b)).backward();
  Tensor grad = a.grad();
  grad.values<float>()[0] = 100;
  EXPECT_EQ(values_of(b.grad()), (std::vector<double>{1, 1}));
}

TEST(Variable, RecordsNothingUnderNoGradAndBehindDetach) {
  const Variable x = leaf({1, 2});
  {
    const NoGrad no_grad;
    EXPECT_FALSE(is_recording());
    EXPECT_FALSE(scale(x, 2).needs_grad());
  }
  EXPECT_TRUE(is_recording());
  EXPECT_TRUE(scale(x, 2).needs_grad());
  sum(add(x, scale(x, 5).detach())).backward();
  EXPECT_EQ(values_of(x.grad()), (std::vector<double>{1, 1}));
}

TEST(Variable, ShowsGradientsThatPassBy) {
  const Variable x = leaf({1, 2});
  const Variable y = scale(x, 3);
  std::vector<double> seen;
  y.on_grad([&](const Tensor& grad) { seen = values_of(grad); });
  sum(add(y, scale(y, 2))).backward();
  EXPECT_EQ(seen, (std::vector<double>{3, 3}));
  EXPECT_EQ(message_of([] { Variable(Tensor::of<float>({1}, 1)).on_grad([](const Tensor&) {}); }),
            "on_grad: the variable is a constant, which gets no gradient");
}

TEST(Variable, UsesATapeOnce) {
  const Variable x = leaf({1, 2});
  const Variable y = sum(x);
  y.backward();
  EXPECT_EQ(message_of([&] { y.backward(); }),
            "backward: sum: was run backward before, expected a tape that is used once");
}

TEST(Variable, SaysWhatIsWrong) {
  EXPECT_EQ(message_of([] {
              scale(leaf({1, 2}), 2).backward();
            }),
            "backward: the variable has shape (2), expected one number, or a gradient to begin with");
  EXPECT_EQ(message_of([] { Variable(Tensor::zeros(DType::f32, 1)).backward(); }),
            "backward: the variable was computed from nothing that needs a gradient");
  EXPECT_EQ(message_of([] { Variable(Tensor::of<std::int64_t>({1}, 1), true); }),
            "Variable: value: dtype i64 has no gradient, expected f32, f64, bf16 or f16");
  EXPECT_EQ(message_of([] {
              const Variable x = leaf({1, 2});
              record("mine", {x}, Tensor::zeros(DType::f32, 1), [](const Tensor& dy, Context&) {
                return std::vector{dy};
              }).backward();
            }),
            "backward: mine: gradient 0: shape (1), expected (2) as the value");
  EXPECT_EQ(message_of([] {
              record("mine", {leaf({1})}, Tensor::zeros(DType::f32, 1), [](const Tensor&, Context&) {
                return std::vector<Tensor>();
              }).backward();
            }),
            "backward: mine: gave 0 gradients, expected one for each of 1 inputs");
}

// A user's own op, as the documentation shows it.
Variable square(const Variable& x) {
  const auto times = [](const Tensor& a, const Tensor& b, float factor) {
    Tensor y = Tensor::empty(DType::f32, a.shape());
    for (std::size_t i = 0; i < y.values<float>().size(); ++i) {
      y.values<float>()[i] = factor * a.values<float>()[i] * b.values<float>()[i];
    }
    return y;
  };
  return record("square", {x}, times(x.value(), x.value(), 1),
                [x, times](const Tensor& dy, Context&) { return std::vector{times(dy, x.value(), 2)}; });
}

TEST(Variable, TakesOpsOfTheUser) {
  const Variable x = leaf({1, 2, 3});
  sum(square(x)).backward();
  EXPECT_EQ(values_of(x.grad()), (std::vector<double>{2, 4, 6}));
}

TEST(Variable, ReleasesALongTapeThatNobodyRan) {
  Variable x = leaf({1});
  for (int i = 0; i < 200000; ++i) x = scale(x, 1);
}

// A small network whose every op can be split over threads.
std::vector<Tensor> gradients_with(int threads) {
  Context context({.threads = threads});
  const Variable x(test::normal_tensor(DType::f32, 1, 700, 96), true),
      w(test::normal_tensor(DType::f32, 2, 130, 96), true);
  const Variable b(test::normal_tensor(DType::f32, 3, 130), true), g(test::normal_tensor(DType::f32, 4, 130), true);
  Variable y = dropout(activate(linear(x, w, b, context), Activation::gelu, context), {.p = 0.1, .seed = 5}, context);
  y = layer_norm(y, g, b, 1e-5, context);
  Tensor targets = Tensor::zeros(DType::i64, 700);
  for (std::size_t i = 0; i < 700; ++i) targets.values<std::int64_t>()[i] = static_cast<std::int64_t>(i * 7 % 130);
  const Variable loss = cross_entropy(y, targets, {.label_smoothing = 0.1}, context);
  loss.backward(context);
  return {loss.value(), x.grad(), w.grad(), b.grad(), g.grad()};
}

TEST(Variable, HasTheSameBitsOnAnyNumberOfThreads) {
  const std::vector<Tensor> one = gradients_with(1);
  for (const int threads : {2, 3, 8}) {
    const std::vector<Tensor> many = gradients_with(threads);
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(test::same_bits(one[i], many[i])) << i << ", " << threads;
  }
}

TEST(Variable, DropsTheSameElementsWhereverTheyStand) {
  const Variable x(Tensor::zeros(DType::f32, 40000));
  Tensor ones = x.value();
  for (float& v : ones.values<float>()) v = 1;
  const Tensor y = dropout(x, {.p = 0.25, .seed = 9, .offset = 2}).value();
  const Tensor again = dropout(x, {.p = 0.25, .seed = 9, .offset = 2}).value();
  EXPECT_TRUE(test::same_bits(y, again));
  EXPECT_FALSE(test::same_bits(y, dropout(x, {.p = 0.25, .seed = 9, .offset = 3}).value()));
  double kept = 0;
  for (const float v : y.values<float>()) {
    EXPECT_TRUE(v == 0 || v == 1 / 0.75f);
    kept += v != 0;
  }
  EXPECT_NEAR(kept / 40000, 0.75, 0.01);
  // In place of the first elements alone: the rule knows their numbers, not the size of the whole.
  const Tensor head = dropout(slice(x, 0, 0, 37), {.p = 0.25, .seed = 9, .offset = 2}).value();
  EXPECT_TRUE(std::equal(head.values<float>().begin(), head.values<float>().end(), y.values<float>().begin()));
}

TEST(Variable, KeepsTheStoredDtype) {
  for (const DType dtype : {DType::bf16, DType::f16}) {
    const Variable x(test::normal_tensor(dtype, 1, 6, 8), true), w(test::normal_tensor(DType::f32, 2, 5, 8), true);
    const Variable y = layer_norm(linear(x, w), {}, {});
    EXPECT_EQ(y.dtype(), dtype);
    sum(y).backward();
    EXPECT_EQ(x.grad().dtype(), dtype);
    EXPECT_EQ(w.grad().dtype(), DType::f32);
  }
}

// Central differences cannot see it, for a rounding has no slope: the gradient is the one that came, in the old dtype.
TEST(Variable, ConvertsTheGradientBack) {
  const Tensor grad = test::normal_tensor(DType::f32, 3, 5);
  for (const DType dtype : {DType::f64, DType::bf16, DType::f16}) {
    const Variable x(test::normal_tensor(DType::f32, 1, 5), true);
    to(x, dtype).backward(grad.to(dtype));
    EXPECT_TRUE(test::same_bits(x.grad(), grad.to(dtype).to(DType::f32)));
  }
}

}  // namespace
}  // namespace attn::autograd
