// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/attention_options.hpp>
#include <attn/autograd/variable.hpp>

namespace attn::nn {
inline namespace ATTN_ABI {

// Gives each dropout of a run a key of its own. Set back to the same numbers, it replays: a checkpoint keeps the two.
struct DropoutStream {
  std::uint64_t seed = 0;    // of the run
  std::uint64_t offset = 0;  // of the next dropout

  Dropout next(double p) { return {.p = p, .seed = seed, .offset = offset++}; }
};

}  // namespace ATTN_ABI

// autograd::dropout with the stream's next key; x itself without a stream (which is evaluation) or for p = 0.
ATTN_API autograd::Variable dropout(const autograd::Variable& x, double p, DropoutStream* stream,
                                    Context& context = default_context());

}  // namespace attn::nn
