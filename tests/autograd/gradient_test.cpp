// SPDX-License-Identifier: Apache-2.0
// Every op of the tape against central differences.
#include <gtest/gtest.h>

#include <attn/autograd.hpp>

#include "support/gradient_check.hpp"

namespace attn::autograd {
namespace {

using test::GradientCase;
using Inputs = std::vector<Variable>;

void make_probabilities(Tensor& t) {
  const std::ptrdiff_t columns = t.extent(-1);
  std::span<double> x = t.values<double>();
  for (std::size_t row = 0; row < x.size(); row += static_cast<std::size_t>(columns)) {
    double sum = 0;
    for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c) sum += x[row + c] = std::exp(x[row + c]);
    for (std::size_t c = 0; c < static_cast<std::size_t>(columns); ++c) x[row + c] /= sum;
  }
}

std::vector<GradientCase> elementwise_cases() {
  std::vector<GradientCase> cases{
      {"add", {{2, 3, 4}, {2, 3, 4}}, [](const Inputs& i) { return add(i[0], i[1]); }},
      {"add_bias", {{2, 3, 4}, {4}}, [](const Inputs& i) { return add(i[0], i[1]); }},
      {"add_positions", {{2, 3, 4}, {3, 4}}, [](const Inputs& i) { return add(i[0], i[1]); }},
      {"add_number", {{2, 3}, {}}, [](const Inputs& i) { return add(i[0], i[1]); }},
      {"add_itself", {{5}}, [](const Inputs& i) { return add(i[0], i[0]); }},
      {"subtract", {{3, 4}, {4}}, [](const Inputs& i) { return subtract(i[0], i[1]); }},
      {"multiply", {{2, 3, 4}, {2, 3, 4}}, [](const Inputs& i) { return multiply(i[0], i[1]); }},
      {"multiply_row", {{2, 3, 4}, {4}}, [](const Inputs& i) { return multiply(i[0], i[1]); }},
      {"multiply_by_a_number", {{2, 3}, {}}, [](const Inputs& i) { return multiply(i[0], i[1]); }},
      {"multiply_itself", {{7}}, [](const Inputs& i) { return multiply(i[0], i[0]); }},
      {"scale", {{3, 5}}, [](const Inputs& i) { return scale(i[0], -2.5); }},
      {"tanh", {{3, 5}}, [](const Inputs& i) { return tanh(i[0]); }},
      {"dropout", {{3, 7}}, [](const Inputs& i) { return dropout(i[0], {.p = 0.4, .seed = 3}); }},
      {"dropout_all", {{3, 7}}, [](const Inputs& i) { return dropout(i[0], {.p = 1}); }},
  };
  for (const auto& [name, activation] :
       {std::pair{"no_activation", Activation::none}, std::pair{"gelu", Activation::gelu},
        std::pair{"gelu_tanh", Activation::gelu_tanh}, std::pair{"relu", Activation::relu},
        std::pair{"silu", Activation::silu}}) {
    const Activation a = activation;
    cases.push_back({name, {{3, 7}}, [a](const Inputs& i) { return activate(i[0], a); }});
  }
  return cases;
}

std::vector<GradientCase> shape_cases() {
  return {
      {"reshape",
       {{2, 6}},
       [](const Inputs& i) {
         return reshape(i[0], {3, 4});
       }},
      {"reshape_of_a_view",
       {{2, 3, 4}},
       [](const Inputs& i) {
         return reshape(permute(i[0], {1, 0, 2}), {6, 4});
       }},
      {"permute",
       {{2, 3, 4}},
       [](const Inputs& i) {
         return permute(i[0], {2, 0, 1});
       }},
      {"slice_first", {{4, 3}}, [](const Inputs& i) { return slice(i[0], 0, 1, 3); }},
      {"slice_last", {{2, 3, 5}}, [](const Inputs& i) { return slice(i[0], -1, 2, 5); }},
      {"concat", {{2, 3}, {2, 1}, {2, 2}}, [](const Inputs& i) { return concat(i, 1); }},
      {"concat_counted_from_the_end", {{2, 3}, {2, 1}}, [](const Inputs& i) { return concat(i, -1); }},
      {"concat_rows", {{1, 3}, {2, 3}}, [](const Inputs& i) { return concat(i, 0); }},
      {"heads", {{2, 3, 8}}, [](const Inputs& i) { return tanh(join_heads(tanh(split_heads(i[0], 2)))); }},
      {"sum", {{3, 5}}, [](const Inputs& i) { return sum(tanh(i[0])); }},
      {"mean", {{3, 5}}, [](const Inputs& i) { return mean(tanh(i[0])); }},
      {"mean_over_first", {{3, 4}}, [](const Inputs& i) { return mean_over(i[0], 0); }},
      {"mean_over_middle", {{2, 3, 4}}, [](const Inputs& i) { return mean_over(i[0], 1); }},
      {"mean_over_last", {{2, 3}}, [](const Inputs& i) { return mean_over(i[0], -1); }},
  };
}

std::vector<GradientCase> layer_cases() {
  const Tensor ids = Tensor::of<std::int64_t>({1, 0, 3, 1, 1, 2}, 2, 3);
  return {
      {"linear", {{2, 3, 5}, {4, 5}, {4}}, [](const Inputs& i) { return linear(i[0], i[1], i[2]); }},
      {"linear_no_bias", {{7, 5}, {3, 5}}, [](const Inputs& i) { return linear(i[0], i[1]); }},
      {"linear_one_row", {{5}, {3, 5}, {3}}, [](const Inputs& i) { return linear(i[0], i[1], i[2]); }},
      {"linear_many_rows", {{1100, 2}, {2, 2}, {2}}, [](const Inputs& i) { return linear(i[0], i[1], i[2]); }},
      {"linear_of_a_view",
       {{5, 3, 2}, {4, 5}},
       [](const Inputs& i) {
         return linear(permute(i[0], {2, 1, 0}), i[1]);
       }},
      {"matmul_of_views",
       {{4, 3}, {5, 4}},
       [](const Inputs& i) {
         return matmul(permute(i[0], {1, 0}), permute(i[1], {1, 0}));
       }},
      {"matmul", {{3, 4}, {4, 5}}, [](const Inputs& i) { return matmul(i[0], i[1]); }},
      {"matmul_stack", {{2, 3, 4}, {2, 4, 5}}, [](const Inputs& i) { return matmul(i[0], i[1]); }},
      {"matmul_shared", {{2, 3, 4}, {4, 5}}, [](const Inputs& i) { return matmul(i[0], i[1]); }},
      {"layer_norm", {{3, 11}, {11}, {11}}, [](const Inputs& i) { return layer_norm(i[0], i[1], i[2]); }},
      {"layer_norm_plain", {{70, 5}}, [](const Inputs& i) { return layer_norm(i[0], {}, {}); }},
      {"layer_norm_weight", {{3, 5}, {5}}, [](const Inputs& i) { return layer_norm(i[0], i[1], {}, 0.3); }},
      {"layer_norm_bias", {{3, 5}, {5}}, [](const Inputs& i) { return layer_norm(i[0], {}, i[1]); }},
      {"rms_norm_plain", {{3, 5}}, [](const Inputs& i) { return rms_norm(i[0], {}, 0.3); }},
      {"rms_norm", {{3, 11}, {11}}, [](const Inputs& i) { return rms_norm(i[0], i[1]); }},
      {"softmax", {{3, 7}}, [](const Inputs& i) { return softmax(i[0]); }},
      {"softmax_of_hidden",
       {{3, 4}},
       [](const Inputs& i) {
         const Tensor hidden = Tensor::of<double>({0, -INFINITY, 0, 0}, 4);
         return softmax(add(i[0], Variable(hidden)));
       }},
      {"log_softmax", {{3, 7}}, [](const Inputs& i) { return log_softmax(i[0]); }},
      {"embedding_of_one_id", {{4, 5}}, [](const Inputs& i) { return embedding(Tensor::of<std::int32_t>({2}), i[0]); }},
      {"embedding", {{4, 5}}, [ids](const Inputs& i) { return embedding(ids, i[0]); }},
  };
}

std::vector<GradientCase> loss_cases() {
  const Tensor targets = Tensor::of<std::int64_t>({1, 0, 3, -100, 1, 2}, 2, 3);
  const Tensor weight = Tensor::of<double>({0.5, 2, 0, 1.5}, 4);
  return {
      {"cross_entropy", {{2, 3, 4}}, [=](const Inputs& i) { return cross_entropy(i[0], targets); }},
      {"cross_entropy_smooth",
       {{2, 3, 4}},
       [=](const Inputs& i) { return cross_entropy(i[0], targets, {.label_smoothing = 0.1}); }},
      {"cross_entropy_weight",
       {{2, 3, 4}},
       [=](const Inputs& i) { return cross_entropy(i[0], targets, {.weight = weight}); }},
      {"cross_entropy_all",
       {{2, 3, 4}},
       [=](const Inputs& i) {
         const Tensor own = Tensor::of<std::int32_t>({1, 0, 3, 2, 1, 2}, 2, 3);
         return cross_entropy(i[0], own, {.ignore_index = 1, .label_smoothing = 0.3, .weight = weight});
       }},
      {"cross_entropy_of_nothing",
       {{2, 4}},
       [](const Inputs& i) {
         return cross_entropy(i[0], Tensor::of<std::int64_t>({-100, -100}, 2));
       }},
      {"mse", {{3, 4}, {3, 4}}, [](const Inputs& i) { return mse_loss(i[0], i[1]); }},
      {"kl",
       {{3, 4}},
       [](const Inputs& i) {
         Tensor p = test::normal_tensor(DType::f64, 5, 3, 4);
         p.values<double>()[2] = -INFINITY;  // a probability of 0
         make_probabilities(p);
         return kl_div(log_softmax(i[0]), p);
       }},
  };
}

// The derivative itself is tested with attention_backward; here, that every operand gets what is its own, and that
// options live as long as the tape.
std::vector<GradientCase> attention_cases() {
  return {
      {"attention",
       {{2, 2, 3, 4}, {2, 2, 5, 4}, {2, 2, 5, 3}},
       [](const Inputs& i) { return attention({.q = i[0], .k = i[1], .v = i[2]}); }},
      {"attention_grouped",
       {{1, 4, 3, 4}, {1, 2, 3, 4}, {1, 2, 3, 4}},
       [](const Inputs& i) {
         return attention({.q = i[0], .k = i[1], .v = i[2]}, {.mask = Mask::causal(), .softcap = 3});
       }},
      {"attention_bias_sink",
       {{2, 2, 3, 4}, {2, 2, 5, 4}, {2, 2, 5, 4}, {1, 2, 3, 5}, {2}},
       [](const Inputs& i) {
         return attention({.q = i[0], .k = i[1], .v = i[2], .bias = i[3], .sink = i[4]},
                          {.dropout = {.p = 0.3, .seed = 2}});
       }},
      {"attention_to_itself",
       {{2, 3, 8}},
       [](const Inputs& i) {
         const Variable x = split_heads(i[0], 2);
         return join_heads(attention({.q = x, .k = x, .v = x}));
       }},
      {"attention_of_passing_options",
       {{2, 1, 3, 4}, {2, 1, 3, 4}, {2, 1, 3, 4}},
       [](const Inputs& i) {
         const Tensor bias = test::normal_tensor(DType::f64, 6, 1, 1, 3, 3);
         Tensor keep = Tensor::zeros(DType::boolean, 1, 1, 1, 3);
         keep.values<bool>()[1] = keep.values<bool>()[2] = true;
         return attention({.q = i[0], .k = i[1], .v = i[2]}, {.mask = Mask::keep(std::as_const(keep)), .bias = bias});
       }},
      {"self_attention", {{2, 3, 12}}, [](const Inputs& i) { return self_attention(i[0], 2, 2); }},
      {"self_attention_grouped",
       {{2, 3, 16}},
       [](const Inputs& i) {
         return self_attention(i[0], 4, 2, {.mask = Mask::causal() & Mask::lengths({3, 2})});
       }},
  };
}

class Gradients : public testing::TestWithParam<GradientCase> {};

TEST_P(Gradients, AreThoseOfCentralDifferences) { EXPECT_EQ(test::gradient_error(GetParam()), ""); }

const auto kName = [](const auto& info) { return info.param.name; };
INSTANTIATE_TEST_SUITE_P(Elementwise, Gradients, testing::ValuesIn(elementwise_cases()), kName);
INSTANTIATE_TEST_SUITE_P(Shape, Gradients, testing::ValuesIn(shape_cases()), kName);
INSTANTIATE_TEST_SUITE_P(Attention, Gradients, testing::ValuesIn(attention_cases()), kName);
INSTANTIATE_TEST_SUITE_P(Layer, Gradients, testing::ValuesIn(layer_cases()), kName);
INSTANTIATE_TEST_SUITE_P(Loss, Gradients, testing::ValuesIn(loss_cases()), kName);

TEST(GradientCheck, SeesAWrongDerivative) {
  const GradientCase wrong{"wrong", {{4}}, [](const Inputs& i) {
                             const Tensor x = i[0].value();
                             return record("wrong", {i[0]}, scale(i[0], 2).value(), [](const Tensor& dy, Context& c) {
                               const NoGrad no_grad;
                               return std::vector{scale(Variable(dy), 2.00001, c).value()};
                             });
                           }};
  EXPECT_NE(test::gradient_error(wrong), "");
}

}  // namespace
}  // namespace attn::autograd
