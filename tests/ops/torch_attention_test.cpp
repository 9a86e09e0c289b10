// SPDX-License-Identifier: Apache-2.0
#include <attn/attention.hpp>
#include <attn/attention_backward.hpp>
#include <attn/io/safetensors.hpp>
#include <cmath>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "gtest/gtest.h"
#include "support/test_data.hpp"

// PyTorch's scaled_dot_product_attention in float64 on sampled arguments (tests/data/torch/README.md says how made).
namespace attn::test {
namespace {

const std::string kFolder = test_data("torch/").string();

// Dimensions that are missing on the left count as 1, for operands and masks alike.
template <class Any, class Data>
Any of_rank_4(DType dtype, Data* data, std::span<const std::ptrdiff_t> shape) {
  Extents<4> extents(1, 1, 1, 1);
  for (std::size_t d = 0; d < shape.size(); ++d) extents[static_cast<int>(4 - shape.size() + d)] = shape[d];
  return Any(dtype, data, extents, row_major(extents));
}
In<4> in(const Tensor& t) { return of_rank_4<In<4>>(t.dtype(), t.data(), t.shape()); }
Out<4> out(Tensor& t) { return of_rank_4<Out<4>>(t.dtype(), t.data(), t.shape()); }

double largest_error(const Tensor& found, const Tensor& expected) {
  const auto x = found.values<float>(), y = expected.values<float>();
  double error = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double distance = std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i]));
    error = std::isnan(distance) ? distance : std::max(error, distance);
  }
  return error;
}

// What a case of the index says beside q, k and v. Views its own mask.
struct Arguments {
  Arguments(const io::SafeTensors& tensors, const nlohmann::json& c) {
    if (c.at("is_causal").get<bool>()) options = {.mask = Mask::causal(), .align = Align::top_left()};
    if (!c.at("scale").is_null()) options.scale = c.at("scale").get<double>();
    if (c.at("attn_mask").is_null()) return;
    mask = tensors.tensor(c.at("name").get<std::string>() + ".attn_mask");
    if (c.at("attn_mask").at("dtype") == "bool") {
      for (const float x : std::as_const(mask).values<float>()) keep.push_back(x != 0);
      options.mask = Mask::keep(of_rank_4<In<4>>(DType::boolean, keep.data(), mask.shape()));
    } else {
      options.bias = in(mask);
    }
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  AttentionOptions options;
  Tensor mask;
  std::vector<std::uint8_t> keep;
};

// Calls error_of(case, tensors of the case by name) for each case of a set. None may be larger than `allowed`.
template <class F>
void expect_as_torch(const std::string& set, std::size_t count, double allowed, const F& error_of) {
  const auto tensors = io::SafeTensors::open(kFolder + set + ".safetensors");
  std::ifstream file(kFolder + set + ".json");
  const auto index = nlohmann::json::parse(file);
  double worst = 0;
  for (const auto& c : index.at("cases")) {
    const std::string name = c.at("name");
    SCOPED_TRACE(name);
    double error = HUGE_VAL;
    const auto tensor = [&](const char* part) { return tensors.tensor(name + "." + part); };
    ASSERT_NO_THROW(error = error_of(Arguments(tensors, c), tensor));
    EXPECT_LE(error, allowed);
    worst = std::max(worst, error);
  }
  EXPECT_EQ(index.at("cases").size(), count);
  std::cout << index.at("cases").size() << " cases of " << set << ", largest error " << worst << '\n';
}

// As the table allows for unit-normal operands.
TEST(TorchAttention, ScaledDotProductAttention) {
  expect_as_torch("sdpa", 60, 3e-6, [](const Arguments& arguments, const auto& tensor) {
    const Tensor q = tensor("q"), k = tensor("k"), v = tensor("v"), expected = tensor("out");
    Tensor result = Tensor::empty(DType::f32, expected.shape());
    attention(in(q), in(k), in(v), out(result), arguments.options);
    return largest_error(result, expected);
  });
}

TEST(TorchAttention, GradientsOfScaledDotProductAttention) {
  expect_as_torch("sdpa_grad", 100, 2e-5, [](const Arguments& arguments, const auto& tensor) {
    const Tensor q = tensor("q"), k = tensor("k"), v = tensor("v"), grad_out = tensor("grad_out");
    Tensor y = Tensor::empty(DType::f32, grad_out.shape());
    Tensor lse = Tensor::empty(DType::f32, in(q).extent(0), in(q).extent(1), in(q).extent(2));
    attention(in(q), in(k), in(v), {.out = out(y), .lse = lse}, arguments.options);

    Tensor dq = Tensor::empty(DType::f32, q.shape()), dk = Tensor::empty(DType::f32, k.shape()),
           dv = Tensor::empty(DType::f32, v.shape());
    AttentionGrads grads{.dq = out(dq), .dk = out(dk), .dv = out(dv)};
    const bool has_bias = arguments.options.bias.wanted();
    Tensor dmask;
    if (has_bias) {
      dmask = Tensor::empty(DType::f32, arguments.mask.shape());
      grads.dbias = out(dmask);
    }
    const AttentionSaved saved{.q = in(q), .k = in(k), .v = in(v), .out = in(y), .lse = lse};
    attention_backward(in(grad_out), saved, grads, arguments.options);
    const double error =
        std::max({largest_error(dq, tensor("dq")), largest_error(dk, tensor("dk")), largest_error(dv, tensor("dv"))});
    return has_bias ? std::max(error, largest_error(dmask, tensor("dmask"))) : error;
  });
}

}  // namespace
}  // namespace attn::test
