// SPDX-License-Identifier: Apache-2.0
// Options do not take the place of the output.
#include <attn/attention.hpp>

void f(attn::View<float, 4> q) {
  attn::attention(q, q, q, q, {.mask = attn::Mask::causal()});
#ifdef ATTN_MISTAKE
  attn::attention(q, q, q, {.mask = attn::Mask::causal()});
#endif
}
