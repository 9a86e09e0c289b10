// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/attention_options.hpp>
#include <attn/key_value.hpp>

namespace attn {
inline namespace ATTN_ABI {

// One finished attention call, as its observer sees it. Everything is viewed and valid during the callback only.
struct AttentionCall {
  In<4> q = {};  // (batch, query heads, queries, d_qk), as before the call where the output took its place
  KeyValue kv = {In<4>(), In<4>()};
  In<3> lse = {};  // (batch, query heads, queries), computed for the observer even when nobody else wants it
  const AttentionOptions& options;
};

}  // namespace ATTN_ABI

// Looks on while attention runs: set it with Context::set_observer. It is called after each call's results are
// complete, on the thread that made the call; observed and unobserved calls run the same code and give the same bits.
class ATTN_API AttentionObserver {
 public:
  virtual ~AttentionObserver();
  virtual void on_attention(const AttentionCall& call) = 0;
};

}  // namespace attn
