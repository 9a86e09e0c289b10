// SPDX-License-Identifier: Apache-2.0
#include <attn/attention.hpp>
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

double largest_error(const Tensor& found, const Tensor& expected) {
  const auto x = found.values<float>(), y = expected.values<float>();
  double error = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double distance = std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i]));
    error = std::isnan(distance) ? distance : std::max(error, distance);
  }
  return error;
}

TEST(TorchAttention, ScaledDotProductAttention) {
  const auto tensors = io::SafeTensors::open(kFolder + "sdpa.safetensors");
  std::ifstream file(kFolder + "sdpa.json");
  const auto index = nlohmann::json::parse(file);
  double worst = 0;
  for (const auto& c : index.at("cases")) {
    const std::string name = c.at("name");
    SCOPED_TRACE(name);
    const auto tensor = [&](const char* part) { return tensors.tensor(name + "." + part); };
    const Tensor q = tensor("q"), k = tensor("k"), v = tensor("v"), expected = tensor("out");

    AttentionOptions options;
    if (c.at("is_causal").get<bool>()) options = {.mask = Mask::causal(), .align = Align::top_left()};
    if (!c.at("scale").is_null()) options.scale = c.at("scale").get<double>();
    Tensor mask;
    std::vector<std::uint8_t> keep;
    if (!c.at("attn_mask").is_null()) {
      mask = tensor("attn_mask");
      if (c.at("attn_mask").at("dtype") == "bool") {
        for (const float x : std::as_const(mask).values<float>()) keep.push_back(x != 0);
        options.mask = Mask::keep(of_rank_4<In<4>>(DType::boolean, keep.data(), mask.shape()));
      } else {
        options.bias = in(mask);
      }
    }
    Tensor out = Tensor::empty(DType::f32, expected.shape());
    const Out<4> result = of_rank_4<Out<4>>(DType::f32, out.data(), out.shape());
    ASSERT_NO_THROW(attention(in(q), in(k), in(v), result, options));
    const double error = largest_error(out, expected);
    EXPECT_LE(error, 3e-6) << "as the table allows for unit-normal operands";
    worst = std::max(worst, error);
  }
  EXPECT_EQ(index.at("cases").size(), 60u);
  std::cout << index.at("cases").size() << " sdpa cases, largest error " << worst << '\n';
}

}  // namespace
}  // namespace attn::test
