// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/activation.hpp>
#include <attn/base.hpp>
#include <attn/context.hpp>
#include <attn/norm.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace attn {

// How a packed weight is stored. Products accumulate in the same type whatever the storage.
enum class WeightStorage : std::uint8_t {
  full,  // f64 when the weight is f64, else f32: exactly the numbers that were given
  bf16,  // each rounded to the nearest bf16, ties to even: 2 bytes a number, relative error 2^-9
  // One byte a number: row n of the weight becomes integers q[n][k] = round(W[n][k] / scale[n]), ties to even, in -127
  // ... 127, with scale[n] = max_k |W[n][k]| / 127 in f32 (0 for a row of zeros): symmetric, per output. x stays f32,
  // the sum over x[k] * q[n][k] is made in f32, then multiplied by scale[n]. Relative error of W about 1/254 of each
  // row's largest number.
  int8,
};

// The weight of a linear layer, laid out once as the matrix product reads it. Copies share the memory.
class ATTN_API PackedWeight {
 public:
  PackedWeight() = default;  // 0 x 0
  // weight: (output features, input features), f32, f64, bf16 or f16, any strides; copied. Throws Error naming what is
  // wrong with it, for int8 also a number that is infinite or NaN; time and memory O(outputs * inputs).
  explicit PackedWeight(In<2> weight, Context& context = default_context());
  PackedWeight(In<2> weight, WeightStorage storage, Context& context = default_context());

  std::ptrdiff_t out_features() const noexcept { return out_features_; }
  std::ptrdiff_t in_features() const noexcept { return in_features_; }
  // What products with it are computed in: f32 or f64.
  DType dtype() const noexcept { return dtype_; }
  WeightStorage storage() const noexcept { return storage_; }
  // Outputs begin ... end - 1 alone, sharing the memory. Throws Error unless begin is a multiple of 16 and the range
  // lies within the outputs.
  PackedWeight outputs(std::ptrdiff_t begin, std::ptrdiff_t end) const;

  // For the products: where the first output's panel begins, and the scales of int8 (null otherwise).
  const void* panels() const noexcept { return panels_; }
  const float* scales() const noexcept { return scales_; }

 private:
  Tensor memory_, scale_memory_;
  const void* panels_ = nullptr;
  const float* scales_ = nullptr;
  std::ptrdiff_t out_features_ = 0, in_features_ = 0;
  DType dtype_ = DType::f32;
  WeightStorage storage_ = WeightStorage::full;
};

inline namespace ATTN_ABI {

// What is done to a product before it is stored, in this order.
struct LinearOptions {
  In<1> bias = {};                           // (output features), added
  Activation activation = Activation::none;  // applied
  In<2> residual = {};                       // (rows, output features), added; may be y itself
  std::optional<NormOptions> norm = {};      // layer_norm of each row, in the same pass; the same bits as by itself
  // Whether the sums start from what y holds instead of 0: y + x W^T in place of x W^T. Not for int8 weights, whose
  // sums are scaled.
  bool accumulate = false;
};

}  // namespace ATTN_ABI

// y = norm(activation(x W^T + bias) + residual). x: (rows, input features), y: (rows, output features); all operands
// f32, f64, bf16 or f16 with any strides, computed in the weight's dtype and rounded once when y is of another. y must
// not overlap x.
//
// Each element is summed over the input features in ascending order: a row of y has the same bits whatever the other
// rows and the number of threads. Time O(rows * outputs * inputs); scratch below 400 kB a thread for up to 4096 input
// features, and 96 bytes more for each beyond. Throws Error naming the argument, what was expected and what was found.
ATTN_API void linear(In<2> x, const PackedWeight& weight, Out<2> y, const LinearOptions& options = {},
                     Context& context = default_context());

}  // namespace attn
