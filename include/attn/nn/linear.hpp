// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/linear.hpp>
#include <attn/nn/activation.hpp>
#include <attn/nn/input.hpp>
#include <attn/nn/parameters.hpp>
#include <attn/nn/state_dict.hpp>
#include <optional>

namespace attn::nn {
inline namespace ATTN_ABI {

struct LinearShape {
  std::ptrdiff_t in_features = 0;
  std::ptrdiff_t out_features = 0;
  bool bias = true;  // whether there is one
  // How the loaded weight is packed. Training keeps its own, and packs it in full.
  WeightStorage storage = WeightStorage::full;
};

// What is done to a product while it is in the cache.
struct LinearCall {
  Activation activation = Activation::none;
  Input residual = {};                   // of the result's shape, added after the activation
  std::optional<NormOptions> norm = {};  // layer_norm over the last dimension after that; LayerNorm::options() of one
};

}  // namespace ATTN_ABI

// y = x W^T + b: PyTorch's nn.Linear.
class ATTN_API Linear {
 public:
  Linear() = default;
  // Throws Error for negative sizes.
  explicit Linear(const LinearShape& shape);

  // "weight" (out, in), packed here once, where a layer in training packs it in each call, and "bias" (out).
  void load(const StateDict& state, const std::string& prefix = {}, Context& context = default_context());
  void read(StateReader& reader);

  // x (..., in) to (..., out), in f64 when the weight is f64, else in f32. A row's bits depend on that row alone.
  // Throws Error when x has another size or dtype, and before load.
  Tensor operator()(Input x, const LinearCall& call = {}, Context& context = default_context()) const;
  Tensor operator()(Input x, Context& context) const { return (*this)(x, {}, context); }

  // The same with gradients, in x's dtype: see autograd::linear. Starts from uniform numbers of bound 1 / sqrt(in), as
  // PyTorch's. Throws Error before initialise or load_parameters.
  Variable operator()(const Variable& x, Context& context = default_context()) const;
  void visit(ParameterVisitor& visitor);

  const LinearShape& shape() const { return shape_; }
  const PackedWeight& weight() const { return weight_; }
  const Tensor& bias() const { return bias_; }
  // What is computed in: f32 or f64.
  DType dtype() const;
  // What training changes; they hold nothing before initialise or load_parameters.
  const Variable& weight_variable() const { return weight_variable_; }
  const Variable& bias_variable() const { return bias_variable_; }

 private:
  LinearShape shape_;
  PackedWeight weight_;
  Tensor bias_;
  Variable weight_variable_, bias_variable_;
};

}  // namespace attn::nn
