// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/io/safetensors.hpp>
#include <attn/nn/linear.hpp>
#include <attn/nn/norm.hpp>
#include <string>
#include <vector>

namespace attn::models {

// A BERT checkpoint's tensors under the names of today, whatever the age of the file: the prefix "bert." and the old
// names of layer norms are looked after here. Names are those behind the prefix: "encoder.layer.0.output.dense".
class BertTensors {
 public:
  // Borrows both.
  BertTensors(const io::SafeTensors& file, Context& context);

  // A table that stays as the file stores it, except f64, which becomes f32.
  Tensor table(const std::string& name, std::ptrdiff_t rows, std::ptrdiff_t columns) const;
  // A dense layer, and several that read the same input as one (their outputs side by side).
  nn::Linear linear(const std::string& name, std::ptrdiff_t in, std::ptrdiff_t out) const;
  nn::Linear linear_of(const std::vector<std::string>& names, std::ptrdiff_t in, std::ptrdiff_t out_of_each) const;
  nn::LayerNorm layer_norm(const std::string& name, std::ptrdiff_t features, double eps) const;

 private:
  const io::SafeTensors& file_;
  Context& context_;
  std::string prefix_;

  Tensor take(const std::string& name, const std::vector<std::ptrdiff_t>& shape) const;
};

}  // namespace attn::models
