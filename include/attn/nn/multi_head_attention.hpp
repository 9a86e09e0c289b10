// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/attention_options.hpp>
#include <attn/autograd/attention.hpp>
#include <attn/nn/dropout_stream.hpp>
#include <attn/nn/linear.hpp>

namespace attn::nn {

// The order of the leading dimensions of tokens in a batch.
enum class Layout : std::uint8_t {
  batch_first,   // (batch, tokens, features)
  tokens_first,  // (tokens, batch, features): PyTorch's batch_first=False
};

// Which weights a call returns when it needs them.
enum class Weights : std::uint8_t {
  averaged,  // over the heads: (batch, queries, keys)
  per_head,  // (batch, heads, queries, keys)
};

inline namespace ATTN_ABI {

// The arguments of PyTorch's nn.MultiheadAttention, and grouped heads.
struct MhaShape {
  std::ptrdiff_t embed_dim = 0;     // E: features of queries and results, a multiple of num_heads
  std::ptrdiff_t num_heads = 1;     // of queries; each has E / num_heads features
  std::ptrdiff_t num_kv_heads = 0;  // of keys and values, dividing num_heads; 0: as many as num_heads
  double dropout_p = 0;             // of weights in training; inference leaves it alone
  bool bias = true;                 // whether the projections have one
  bool add_bias_kv = false;         // one more key and value, learned, after the others
  bool add_zero_attn = false;       // one more key and value of zeros, after those
  std::ptrdiff_t kdim = 0;          // features of keys; 0: E
  std::ptrdiff_t vdim = 0;          // features of values; 0: E
  Layout layout = Layout::batch_first;
};

struct MhaOptions {
  bool need_weights = false;
  Weights weights = Weights::averaged;  // which, when they are needed
  // (batch, keys), without batch (keys). Boolean or u8: true hides the key from every query. Floating: added to scores.
  Input key_padding_mask = {};
  // (queries, keys) or (batch * heads, queries, keys), item b * heads + h. Boolean or u8: true hides the pair.
  // Floating: added to scores.
  Input attn_mask = {};
  bool is_causal = false;  // query i sees keys 0 ... i and those that the layer appends, and what the masks leave
  Input residual = {};     // of the result's shape, added to it
  // Without gradients: layer_norm over the last dimension after that; LayerNorm::options() of one.
  std::optional<NormOptions> norm = {};
  // Everything else that attention can do. Its mask and bias see the appended keys behind the others; they apply
  // besides those above.
  AttentionOptions attention = {};
  // With gradients only: where the keys of dropout_p come from. Null: nothing drops out, which is evaluation.
  DropoutStream* dropout = nullptr;
};

struct MhaOutput {
  Tensor y = {};        // as the query, (..., E)
  Tensor weights = {};  // batch first whatever the layout; holds nothing unless needed
};

// The result with gradients.
struct MhaVariables {
  Variable y = {};
  Variable weights = {};  // as above, before dropout, and a constant
};

}  // namespace ATTN_ABI

// Multi-head attention (Vaswani et al. 2017, 3.2.2): PyTorch's nn.MultiheadAttention with its names and layouts of
// parameters. Masks say what is hidden, as there; a query that sees no key gives the output projection's bias (weights
// 0), where PyTorch gives NaN. The attention inside is attn::attention, and holds nothing queries x keys.
class ATTN_API MultiHeadAttention {
 public:
  MultiHeadAttention() = default;
  // Throws Error for sizes that do not fit each other.
  explicit MultiHeadAttention(const MhaShape& shape);

  // "in_proj_weight" (E + 2 G, E) with G = num_kv_heads * E / num_heads: rows of queries, keys, values; where kdim or
  // vdim is not E "q_proj_weight" (E, E), "k_proj_weight" (G, kdim), "v_proj_weight" (G, vdim); "in_proj_bias" (E + 2
  // G); "out_proj.weight" (E, E), "out_proj.bias" (E); "bias_k", "bias_v" (1, 1, G).
  void load(const StateDict& state, const std::string& prefix = {}, Context& context = default_context());
  void read(StateReader& reader);

  // query (batch, L, E), key (batch, S, kdim), value (batch, S, vdim) in the layout of the shape, or all three without
  // batch. Computed in f64 when the weights are f64, else in f32. Throws Error naming the argument.
  MhaOutput operator()(Input query, Input key, Input value, const MhaOptions& options = {},
                       Context& context = default_context()) const;

  // The same with gradients, in the query's dtype; masks and `residual` are constants, and what is viewed is copied.
  // Projections of queries, keys and values start from Xavier's uniform numbers, biases from zeros, as PyTorch's.
  // Throws Error before initialise or load_parameters.
  MhaVariables operator()(const Variable& query, const Variable& key, const Variable& value,
                          const MhaOptions& options = {}, Context& context = default_context()) const;
  void visit(ParameterVisitor& visitor);

  const MhaShape& shape() const { return shape_; }
  std::ptrdiff_t head_dim() const { return shape_.embed_dim / shape_.num_heads; }

 private:
  bool is_trainable() const { return in_weight_variable_.has_value() || q_weight_variable_.has_value(); }
  void pack(const Tensor& weight, Context& context);
  // Queries, keys and values by heads, and where they are kept.
  struct Projected {
    Tensor memory[3] = {};
    In<4> q = {}, k = {}, v = {};
  };
  Projected project(const Input& query, const Input& key, const Input& value, std::ptrdiff_t appended,
                    Context& context) const;
  autograd::AttentionInputs project_heads(const Variable& query, const Variable& key, const Variable& value,
                                          Context& context) const;
  Tensor weights_of(const autograd::AttentionInputs& heads, DType dtype, const AttentionOptions& options,
                    Context& context) const;
  Variable attend_self(const Variable& x, const AttentionOptions& options, Context& context) const;
  // The layer with its parameters as they are now, for inference.
  MultiHeadAttention as_loaded(Context& context) const;

  MhaShape shape_;
  PackedWeight all_;  // queries, keys and values at once, for self-attention; the next three are parts of it then
  PackedWeight query_, key_, value_;
  Tensor in_bias_, bias_k_, bias_v_;
  Linear out_;
  Variable in_weight_variable_, q_weight_variable_, k_weight_variable_, v_weight_variable_;  // one, or the other three
  Variable in_bias_variable_, bias_k_variable_, bias_v_variable_;
};

}  // namespace attn::nn
