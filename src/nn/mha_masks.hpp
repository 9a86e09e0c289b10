// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/nn/multi_head_attention.hpp>
#include <string_view>
#include <vector>

namespace attn::nn {

// What its errors name first.
inline constexpr std::string_view kMultiHeadAttention = "MultiHeadAttention";

// Sizes of one call.
struct MhaSizes {
  std::ptrdiff_t batch = 0, heads = 0, queries = 0;
  std::ptrdiff_t keys = 0;      // that were given
  std::ptrdiff_t appended = 0;  // keys that the layer adds behind them, hidden by no mask of the call
  bool is_batched = true;
  DType dtype = DType::f32;  // that scores are computed in
};

// Throws Error naming the operand that does not fit the layer or the others.
MhaSizes mha_sizes(const MhaShape& shape, const Input& query, const Input& key, const Input& value, DType dtype);

// PyTorch's masks (true hides, floating ones are added) as the options of attention. Views the masks, and copies them
// only where keys are appended or floating ones add up; lives as long as the call.
class MhaMasks {
 public:
  // Throws Error naming the argument whose shape or dtype does not fit.
  MhaMasks(const MhaOptions& options, const MhaSizes& sizes, Context& context);

  const AttentionOptions& attention() const { return attention_; }

 private:
  void add(const char* name, const Input& mask, const Extents<4>& extents, const Extents<4>& strides);
  void add_causal(const Align& align);
  In<4> with_appended(const In<4>& hidden);
  void check_bias() const;
  void join_biases();

  MhaSizes sizes_;
  Context& context_;
  AttentionOptions attention_;
  std::vector<In<4>> biases_;   // of attention's shape or broadcast, over the given keys
  std::vector<Tensor> copies_;  // what attention_ views
};

}  // namespace attn::nn
