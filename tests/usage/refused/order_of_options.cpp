// SPDX-License-Identifier: Apache-2.0
// Options are named in the order of their declaration.
#include <attn/attention.hpp>

void f(attn::View<float, 4> q) {
  attn::attention(q, q, q, q, {.mask = attn::Mask::causal(), .softcap = 1});
#ifdef ATTN_MISTAKE
  attn::attention(q, q, q, q, {.softcap = 1, .mask = attn::Mask::causal()});
#endif
}
