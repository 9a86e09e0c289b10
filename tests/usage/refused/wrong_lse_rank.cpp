// SPDX-License-Identifier: Apache-2.0
// A row has one lse, so that it has a rank of 3.
#include <attn/attention.hpp>

void f(attn::View<float, 4> q, attn::View<float, 3> lse) {
  attn::attention(q, q, q, {.out = q, .lse = lse});
#ifdef ATTN_MISTAKE
  attn::attention(q, q, q, {.out = q, .lse = q});
#endif
}
