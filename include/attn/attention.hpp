// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/attention_options.hpp>
#include <attn/base.hpp>
#include <attn/context.hpp>
#include <attn/key_value.hpp>
#include <cstddef>
#include <string>

namespace attn {
inline namespace ATTN_ABI {

// What a call writes; dtype `none` (the default) means not wanted. Any strides that give each element its own place.
struct AttentionOutputs {
  Out<4> out = {};      // (batch, query heads, queries, d_v), f32, f64, bf16 or f16
  Out<3> lse = {};      // (batch, query heads, queries): natural log of the softmax denominator, sink included;
                        // f64 when q, k or v is f64, else f32
  Out<4> weights = {};  // (batch, query heads, queries, keys): before dropout; a row sums to 1 minus the sink's share,
                        // to 0 when it sees no key. Holds L x S numbers: ask only for what fits
  Out<4> scores = {};   // the same shape: scores before the softmax, at `score_stage`. Keys beyond a length, or in
                        // another packed sequence, are never read and give -inf at every stage
  ScoreStage score_stage = ScoreStage::scaled;
};

// What a call would do.
struct Description {
  std::string kernel = {};        // name of the inner loop
  std::string isa = {};           // instruction set it runs on
  int threads = 0;                // threads of the context
  int tile_q = 0, tile_k = 0;     // queries and keys of a tile
  std::ptrdiff_t tasks = 0;       // pieces of work that threads share out
  std::size_t scratch_bytes = 0;  // scratch memory of all threads together
  bool copies_k = false;          // k (v) is not of the type that sums are held in, side by side
                                  // along the head dim: tiles are widened into scratch
  bool copies_v = false;
};

}  // namespace ATTN_ABI

// Scaled dot-product attention: softmax(scale * q k^T) v with every option of AttentionOptions, for self- and
// cross-attention, grouped queries (query head h reads kv head h / (Hq / Hkv)), d_v != d_qk, packed sequences.
//
// Shapes: q (B, Hq, L, D), k (B, Hkv, S, D), v (B, Hkv, S, Dv), Hq a multiple of Hkv; D and Dv at least 1; any
// strides, zero extents allowed. Dtypes: f32, f64, bf16, f16, mixed freely; sums are f32, or f64 when q, k or v is f64.
// Nothing L x S is held: time O(B Hq L S (D + Dv)) over the visible tiles, scratch O(threads * (D + Dv)) (Milakov &
// Gimelshein 2018; Dao et al. 2022). On one processor a row's bits depend on its query, its keys and the options only,
// not on threads, other rows, padding or packing.
//
// A NaN or infinity in a visible key or value reaches the output; a hidden one never does. Throws Error naming the
// argument, what was expected and what was found; std::bad_alloc when scratch cannot be had. `out` may be q itself
// when dtypes, shapes and strides agree. Outputs must not overlap inputs or each other otherwise: views that share
// memory need not share an element, so that this is not checked, and the numbers are then undefined.
ATTN_API void attention(In<4> q, const KeyValue& kv, const AttentionOutputs& outs, const AttentionOptions& options = {},
                        Context& context = default_context());

inline void attention(In<4> q, const KeyValue& kv, Out<4> out, const AttentionOptions& options = {},
                      Context& context = default_context()) {
  attention(q, kv, AttentionOutputs{.out = out}, options, context);
}
inline void attention(In<4> q, In<4> k, In<4> v, const AttentionOutputs& outs, const AttentionOptions& options = {},
                      Context& context = default_context()) {
  attention(q, KeyValue(k, v), outs, options, context);
}
inline void attention(In<4> q, In<4> k, In<4> v, Out<4> out, const AttentionOptions& options = {},
                      Context& context = default_context()) {
  attention(q, KeyValue(k, v), AttentionOutputs{.out = out}, options, context);
}

// The same verdict as the call's, without the call. After ok, only lack of memory can make the call throw.
ATTN_API Status check_attention(In<4> q, const KeyValue& kv, const AttentionOutputs& outs,
                                const AttentionOptions& options = {}) noexcept;

// What the call would do under this context. Throws as the call does.
ATTN_API Description describe_attention(In<4> q, const KeyValue& kv, const AttentionOutputs& outs,
                                        const AttentionOptions& options = {}, Context& context = default_context());

// Merges the results of attention over two disjoint sets of keys into that over their union: each row's outputs are
// weighted by exp(lse - lse of the union) (Dao 2023, section 3). Associative up to rounding; an empty part (lse -inf)
// changes nothing. out_a, out_b, out: (B, H, L, Dv); lse_a, lse_b, lse: (B, H, L); `out` and `lse` may be those of a
// or b. With a sink, give it to one part only. Throws Error as `attention` does. Time O(B H L Dv).
ATTN_API void merge_states(In<4> out_a, In<3> lse_a, In<4> out_b, In<3> lse_b, Out<4> out, Out<3> lse,
                           Context& context = default_context());

}  // namespace attn
