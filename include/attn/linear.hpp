// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/activation.hpp>
#include <attn/base.hpp>
#include <attn/context.hpp>
#include <cstddef>

namespace attn {

// The weight of a linear layer, laid out once as the matrix product reads it. Copies share the memory.
class ATTN_API PackedWeight {
 public:
  PackedWeight() = default;  // 0 x 0
  // weight: (output features, input features), f32, f64, bf16 or f16, any strides; copied. f64 stays f64, the others
  // become f32. Throws Error naming what is wrong with it; time and memory O(outputs * inputs).
  explicit PackedWeight(In<2> weight, Context& context = default_context());

  std::ptrdiff_t out_features() const noexcept { return out_features_; }
  std::ptrdiff_t in_features() const noexcept { return in_features_; }
  // What products with it are computed in: f32 or f64.
  DType dtype() const noexcept { return dtype_; }
  const void* panels() const noexcept { return panels_.data(); }

 private:
  Tensor panels_;
  std::ptrdiff_t out_features_ = 0, in_features_ = 0;
  DType dtype_ = DType::f32;
};

inline namespace ATTN_ABI {

// What is done to a product before it is stored, in this order.
struct LinearOptions {
  In<1> bias = {};                           // (output features), added
  Activation activation = Activation::none;  // applied
  In<2> residual = {};                       // (rows, output features), added; may be y itself
};

}  // namespace ATTN_ABI

// y = activation(x W^T + bias) + residual. x: (rows, input features), y: (rows, output features); all operands f32,
// f64, bf16 or f16 with any strides, computed in the weight's dtype and rounded once when y is of another. y must not
// overlap x.
//
// Each element is summed over the input features in ascending order: a row of y has the same bits whatever the other
// rows and the number of threads. Time O(rows * outputs * inputs); scratch 100 kB a thread, and a widened copy of x
// when its dtype differs. Throws Error naming the argument, what was expected and what was found.
ATTN_API void linear(In<2> x, const PackedWeight& weight, Out<2> y, const LinearOptions& options = {},
                     Context& context = default_context());

}  // namespace attn
