// SPDX-License-Identifier: Apache-2.0
// An output in bare braces could be `out` or the first of several outputs.
#include <attn/attention.hpp>

void f(attn::View<float, 4> q) {
  attn::attention(q, q, q, {.out = q});
#ifdef ATTN_MISTAKE
  attn::attention(q, q, q, {q});
#endif
}
