// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/attention.hpp>
#include <attn/tensor.hpp>
#include <string>
#include <vector>

namespace attn::inspect {
inline namespace ATTN_ABI {

// A small example of self-attention with one head: either x with the three projections, or q, k and v. Each is a matrix
// of f32, f64, bf16 or f16.
struct Example {
  Tensor x = {};                         // (L, E): one row a token
  Tensor w_q = {}, w_k = {}, w_v = {};   // (E, d_k), (E, d_k), (E, d_v): q = x w_q
  Tensor q = {}, k = {}, v = {};         // (L, d_k), (S, d_k), (S, d_v), in place of the above
  std::vector<std::string> tokens = {};  // names of the rows (of q, or of k); may be empty
  std::string note = {};                 // what a reader should know
};

struct Step {
  std::string name = {};     // "scores"
  std::string formula = {};  // "Q K^T"
  Tensor value = {};         // f64, a matrix; rows = queries
};

struct Explanation {
  std::vector<Step> steps = {};          // in the order they are taken
  std::vector<std::string> tokens = {};  // those of the example, as is the note
  std::string note = {};
};

}  // namespace ATTN_ABI

// The example of the documentation: three tokens, E = 4, d_k = d_v = 2. Its note says that a widely copied tutorial
// prints other numbers for it, and which of them are wrong.
ATTN_API Example worked_example();

// Every step of attention with its numbers, computed in f64: X, W_Q, W_K, W_V (when given), Q, K, V, scores (Q K^T),
// scaled, capped (with a soft-cap), biased (with a bias or ALiBi), masked (when something is hidden: -inf), weights,
// output. The steps from the scores on are those of `attention` itself, asked for one by one. Options as for
// `attention`, with batch 1 and one head; dropout and packing are refused. Throws Error naming the matrix, what was
// expected and what was found.
ATTN_API Explanation explain(const Example& example, const AttentionOptions& options = {},
                             Context& context = default_context());

}  // namespace attn::inspect
