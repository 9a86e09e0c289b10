// SPDX-License-Identifier: Apache-2.0
// Results cannot go where only reading is allowed.
#include <attn/attention.hpp>

void f(attn::View<const float, 4> q, attn::View<float, 4> out) {
  attn::attention(q, q, q, out);
#ifdef ATTN_MISTAKE
  attn::attention(q, q, q, q);
#endif
}
