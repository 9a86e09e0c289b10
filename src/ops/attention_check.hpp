// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/attention.hpp>
#include <string_view>

namespace attn::ops {

// Checks that need the operands alone. Each throws Error naming `function`.
void check_operands(std::string_view function, const In<4>& q, const In<4>& k, const In<4>& v);
void check_outputs(std::string_view function, const In<4>& q, const In<4>& k, const In<4>& v,
                   const AttentionOutputs& outs);
void check_packing(std::string_view function, const In<4>& q, const In<4>& k, const Packing& packing);

// Checks of the options against `entries` batch entries or packed sequences of at most `queries` x `keys` tokens;
// `is_square` says that each has as many queries as keys.
struct CallSizes {
  std::ptrdiff_t entries = 0, query_heads = 0, queries = 0, keys = 0;
  bool is_packed = false, is_square = false;
};
void check_options(std::string_view function, const CallSizes& sizes, const AttentionOptions& options);

}  // namespace attn::ops
