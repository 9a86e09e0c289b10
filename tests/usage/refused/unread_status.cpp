// SPDX-License-Identifier: Apache-2.0
// A verdict that nobody reads is a check that was not made.
#include <attn/attention.hpp>

bool f(attn::View<float, 4> q) {
#ifdef ATTN_MISTAKE
  attn::check_attention(q, {q, q}, {.out = q});
#endif
  return attn::check_attention(q, {q, q}, {.out = q}).ok();
}
