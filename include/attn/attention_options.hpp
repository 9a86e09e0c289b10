// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/align.hpp>
#include <attn/any_view.hpp>
#include <attn/mask.hpp>
#include <attn/score_stage.hpp>
#include <attn/version.hpp>
#include <cstdint>
#include <optional>
#include <span>

namespace attn {
inline namespace ATTN_ABI {

// Several sequences laid end to end along the token dimension of batch 1: sequence n has queries
// cu_q[n] .. cu_q[n + 1] and keys cu_k[n] .. cu_k[n + 1]. Every mask, bias, length, alignment and dropout then sees
// (sequence, local i, local j), so that a packed call gives the bits of a padded one. Tokens before the first and
// after the last sequence are rows that see no key. Not packed while cu_q is empty.
struct Packing {
  std::span<const std::int32_t> cu_q = {};  // ascending, within the query tokens
  std::span<const std::int32_t> cu_k = {};  // as many entries as cu_q, within the key tokens
};

// Dropout of normalised weights; survivors are multiplied by 1 / (1 - p). Philox4x32-10 (Salmon et al. 2011, "Parallel
// random numbers: as easy as 1, 2, 3") keyed by (seed, offset) and counted by (batch, head, i, j): the same pairs drop
// out whatever the tiling, the threads, the strides or the packing.
struct Dropout {
  double p = 0;              // probability of dropping, 0 to 1; 1 gives zeros
  std::uint64_t seed = 0;    // of the run
  std::uint64_t offset = 0;  // of the call within the run: two calls that share both drop the same pairs
};

// What attention computes, beside its operands. Order: scores = scale * q.k; soft-cap; + bias, + ALiBi; mask; the sink
// joins the denominator; softmax; dropout; times v.
struct AttentionOptions {
  Mask mask = {};                      // visible pairs
  Align align = {};                    // needed when L != S and something below depends on positions
  std::optional<double> scale = {};    // factor of the scores; default 1 / sqrt(d_qk) (Vaswani et al. 2017, 3.2.1)
  std::optional<double> softcap = {};  // c > 0: scores become c * tanh(scores / c) (Gemma 2)
  In<4> bias = {};                     // added after the soft-cap; (batch, query heads, queries, keys), extents of 1
                                       // are broadcast; -inf hides the pair, as a mask does
  In<1> sink = {};                     // (query heads): a raw logit that joins the denominator only (GPT-OSS)
  In<1> alibi = {};                    // (query heads): adds -slope * |p - j| (Press et al. 2022)
  Packing packing = {};                // several sequences in one
  Dropout dropout = {};                // off
};

}  // namespace ATTN_ABI
}  // namespace attn
