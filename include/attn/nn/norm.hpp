// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/nn/input.hpp>
#include <attn/nn/parameters.hpp>
#include <attn/nn/state_dict.hpp>
#include <attn/norm.hpp>

namespace attn::nn {
inline namespace ATTN_ABI {

struct NormShape {
  std::ptrdiff_t features = 0;  // of the last dimension
  double eps = 1e-5;            // added to the variance (mean square)
  bool bias = true;             // whether there is one; RMSNorm has none
};

}  // namespace ATTN_ABI

// Mean 0 and variance 1 over the last dimension, then a learned scale and shift (Ba et al. 2016): PyTorch's
// nn.LayerNorm over one dimension.
class ATTN_API LayerNorm {
 public:
  LayerNorm() = default;
  // Throws Error for a negative size or eps.
  explicit LayerNorm(const NormShape& shape);

  // "weight" and "bias" (features).
  void load(const StateDict& state, const std::string& prefix = {}, Context& context = default_context());
  void read(StateReader& reader);

  // x (..., features) to the same shape, f64 when x is f64, else f32. Throws Error when x has another size or dtype,
  // and before load.
  Tensor operator()(Input x, Context& context = default_context()) const;

  // The same with gradients, in x's dtype. Starts from ones and zeros. Throws Error before initialise or
  // load_parameters.
  Variable operator()(const Variable& x, Context& context = default_context()) const;
  void visit(ParameterVisitor& visitor);

  const NormShape& shape() const { return shape_; }
  // Its parameters as they are now, for a projection that normalises in the same pass. They must outlive the call.
  // Throws Error before load.
  NormOptions options() const;

 private:
  NormShape shape_;
  Tensor weight_, bias_;
  Variable weight_variable_, bias_variable_;
};

// Root mean square 1 over the last dimension, then a learned scale (Zhang & Sennrich 2019): PyTorch's nn.RMSNorm.
class ATTN_API RMSNorm {
 public:
  RMSNorm() = default;
  // Throws Error for a negative size or eps.
  explicit RMSNorm(const NormShape& shape);

  // "weight" (features).
  void load(const StateDict& state, const std::string& prefix = {}, Context& context = default_context());
  void read(StateReader& reader);

  // As LayerNorm.
  Tensor operator()(Input x, Context& context = default_context()) const;

  // The same with gradients, in x's dtype. Starts from ones and zeros. Throws Error before initialise or
  // load_parameters.
  Variable operator()(const Variable& x, Context& context = default_context()) const;
  void visit(ParameterVisitor& visitor);

  const NormShape& shape() const { return shape_; }

 private:
  NormShape shape_;
  Tensor weight_;
  Variable weight_variable_;
};

}  // namespace attn::nn
