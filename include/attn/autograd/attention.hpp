// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/attention_options.hpp>
#include <attn/autograd/variable.hpp>

namespace attn::autograd {
inline namespace ATTN_ABI {

// What attention can be differentiated by. bias and sink hold nothing unless given.
struct AttentionInputs {
  Variable q = {};     // (batch, query heads, queries, d_qk)
  Variable k = {};     // (batch, kv heads, keys, d_qk)
  Variable v = {};     // (batch, kv heads, keys, d_v)
  Variable bias = {};  // as AttentionOptions::bias; extents of 1 are broadcast, and its gradient is summed over them
  Variable sink = {};  // as AttentionOptions::sink
};

}  // namespace ATTN_ABI

// attn::attention with gradients: (batch, query heads, queries, d_v) in q's dtype, laid out (batch, queries, heads,
// d_v) in memory, so that join_heads is a view. Keeps q, k, v, the output and one number a row; nothing queries x keys
// is held in either direction. Whatever `options` views is copied. bias and sink are given in `inputs`, or as constants
// in `options`, not in both. Throws Error as attn::attention does.
ATTN_API Variable attention(const AttentionInputs& inputs, const AttentionOptions& options = {},
                            Context& context = default_context());

// The attention of tokens to each other from one projection: x (batch, tokens, (heads + 2 kv_heads) * dim) holds each
// token's queries, then its keys, then its values, head after head. Gives (batch, tokens, heads * dim) in x's dtype.
// The same bits as attention() of the three parts, of which none is copied, in either direction; bias and sink are
// constants. Throws Error naming the argument.
ATTN_API Variable self_attention(const Variable& x, std::ptrdiff_t heads, std::ptrdiff_t kv_heads,
                                 const AttentionOptions& options = {}, Context& context = default_context());

}  // namespace attn::autograd
