// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/linear.hpp>
#include <attn/nn/activation.hpp>
#include <attn/nn/input.hpp>
#include <attn/nn/state_dict.hpp>

namespace attn::nn {
inline namespace ATTN_ABI {

struct LinearShape {
  std::ptrdiff_t in_features = 0;
  std::ptrdiff_t out_features = 0;
  bool bias = true;  // whether there is one
};

// What is done to a product while it is in the cache.
struct LinearCall {
  Activation activation = Activation::none;
  Input residual = {};  // of the result's shape, added after the activation
};

}  // namespace ATTN_ABI

// y = x W^T + b: PyTorch's nn.Linear.
class ATTN_API Linear {
 public:
  Linear() = default;
  // Throws Error for negative sizes.
  explicit Linear(const LinearShape& shape);

  // "weight" (out, in), packed here once, and "bias" (out).
  void load(const StateDict& state, const std::string& prefix = {}, Context& context = default_context());
  void read(StateReader& reader);

  // x (..., in) to (..., out), in f64 when the weight is f64, else in f32. A row's bits depend on that row alone.
  // Throws Error when x has another size or dtype, and before load.
  Tensor operator()(Input x, const LinearCall& call = {}, Context& context = default_context()) const;
  Tensor operator()(Input x, Context& context) const { return (*this)(x, {}, context); }

  const LinearShape& shape() const { return shape_; }
  const PackedWeight& weight() const { return weight_; }
  const Tensor& bias() const { return bias_; }
  DType dtype() const { return weight_.dtype(); }

 private:
  LinearShape shape_;
  PackedWeight weight_;
  Tensor bias_;
};

}  // namespace attn::nn
