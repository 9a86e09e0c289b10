// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/attention.hpp>

namespace attn {

// What a backward call does with what already stands in its outputs.
enum class GradWrite : std::uint8_t {
  overwrite,  // nothing of it is read
  add         // gradients are added to it, in the type that sums are held in, and rounded once
};

inline namespace ATTN_ABI {

// What a loss says about the results of the forward call: its derivative by each element. At least one is given; the
// other then counts as zeros. Any floating dtype and any strides.
struct AttentionOutputGrads {
  In<4> out = {};  // (batch, query heads, queries, d_v)
  In<3> lse = {};  // (batch, query heads, queries)
};

// What the forward call was given and what it gave, all of it needed.
struct AttentionSaved {
  In<4> q = {}, k = {}, v = {};
  In<4> out = {};  // before anything else is done to it
  In<3> lse = {};  // f64 when q, k or v is f64, else f32
};

// What a backward call writes; dtype `none` (the default) means not wanted, and is not computed. Any floating dtype and
// any strides.
struct AttentionGrads {
  Out<4> dq = {};     // as q
  Out<4> dk = {};     // as k: summed over the query heads of a group; 0 for keys that no query sees
  Out<4> dv = {};     // as v
  Out<4> dbias = {};  // as options.bias, summed where that is broadcast
  Out<1> dsink = {};  // (query heads)
  GradWrite write = GradWrite::overwrite;
};

}  // namespace ATTN_ABI

// Gradients of a loss through attention, for every option of the forward call, which gets the same options: dropout is
// replayed from its key. Where dW = grad_out v^T times the dropout's factor, delta = rowsum(out grad_out):
// ds = weights (dW - delta + grad_lse), dq = scale ds k, dk = scale ds^T q, dv = (dropped weights)^T grad_out, dbias =
// ds, dsink = exp(sink - lse) (grad_lse - delta); a soft-cap scales ds by its slope (Dao et al. 2022, appendix B.2).
//
// Weights are recomputed from lse, tile by tile: nothing L x S is held. Time 2.5 times the forward's over the visible
// tiles (dbias: once again what dq takes); scratch linear in L and S, as describe_attention_backward says. Sums are
// f32, or f64 when q, k or v is f64. A pair that is hidden adds nothing to any gradient, whatever its operands; a query
// that sees no key has gradient 0, and only its lse's goes on, to the sink. Gradients do not depend on the number of
// threads.
//
// Throws Error naming the argument, what was expected and what was found; std::bad_alloc when scratch cannot be had.
// Outputs must not overlap inputs or each other.
ATTN_API void attention_backward(const AttentionOutputGrads& output_grads, const AttentionSaved& saved,
                                 const AttentionGrads& grads, const AttentionOptions& options = {},
                                 Context& context = default_context());

inline void attention_backward(In<4> grad_out, const AttentionSaved& saved, const AttentionGrads& grads,
                               const AttentionOptions& options = {}, Context& context = default_context()) {
  attention_backward(AttentionOutputGrads{.out = grad_out}, saved, grads, options, context);
}

// The same verdict as the call's, without the call. After ok, only lack of memory can make the call throw.
ATTN_API Status check_attention_backward(const AttentionOutputGrads& output_grads, const AttentionSaved& saved,
                                         const AttentionGrads& grads, const AttentionOptions& options = {}) noexcept;

// What the call would do under this context. Throws as the call does.
ATTN_API Description describe_attention_backward(const AttentionOutputGrads& output_grads, const AttentionSaved& saved,
                                                 const AttentionGrads& grads, const AttentionOptions& options = {},
                                                 Context& context = default_context());

}  // namespace attn
