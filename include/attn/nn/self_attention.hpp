// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/attention_options.hpp>
#include <attn/nn/linear.hpp>

namespace attn::nn {
inline namespace ATTN_ABI {

struct SelfAttentionShape {
  std::ptrdiff_t d_model = 0;  // features of a token
  std::ptrdiff_t d_k = 0;      // features of its query and key; 0: d_model
  std::ptrdiff_t d_v = 0;      // features of its value, and so of the result; 0: d_model
  bool bias = true;            // whether the three projections have one
};

struct SelfAttentionOptions {
  bool need_weights = false;
  // (tokens, tokens) or (batch, tokens, tokens) of any dtype: 1 where query i sees key j, 0 where it does not. A batch
  // extent of 1 serves every batch entry.
  Input mask = {};
  AttentionOptions attention = {};  // everything else that attention can do; its mask applies besides
};

struct SelfAttentionOutput {
  Tensor y = {};        // (batch, tokens, d_v), or (tokens, d_v)
  Tensor weights = {};  // (batch, tokens, tokens), or (tokens, tokens); holds nothing unless needed
};

// The result with gradients.
struct SelfAttentionVariables {
  Variable y = {};
  Tensor weights = {};  // as above, a constant
};

}  // namespace ATTN_ABI

// One head over one sequence, as it is taught (Vaswani et al. 2017, 3.2.1): Q = x W_Q, K = x W_K, V = x W_V,
// y = softmax(Q K^T / sqrt(d_k)) V.
class ATTN_API SelfAttention {
 public:
  SelfAttention() = default;
  // Throws Error for a negative size.
  explicit SelfAttention(const SelfAttentionShape& shape);

  // "query.weight" and "key.weight" (d_k, d_model), "value.weight" (d_v, d_model), each the transpose of W above, and
  // "query.bias", "key.bias" (d_k), "value.bias" (d_v).
  void load(const StateDict& state, const std::string& prefix = {}, Context& context = default_context());
  void read(StateReader& reader);

  // x (batch, tokens, d_model) or (tokens, d_model). Throws Error naming the argument; a mask that holds anything but
  // 0 and 1 is refused, since nobody knows what it means.
  SelfAttentionOutput operator()(Input x, const SelfAttentionOptions& options = {},
                                 Context& context = default_context()) const;

  // The same with gradients. Throws Error before initialise or load_parameters.
  SelfAttentionVariables operator()(const Variable& x, const SelfAttentionOptions& options = {},
                                    Context& context = default_context()) const;
  void visit(ParameterVisitor& visitor);

  const SelfAttentionShape& shape() const { return shape_; }

 private:
  // The layers in this one under their names, to whoever reads or visits them.
  template <class To>
  void give_parts(To& to);
  SelfAttentionShape shape_;
  Linear query_, key_, value_;
};

}  // namespace attn::nn
