// SPDX-License-Identifier: Apache-2.0
// Nothing is not an output.
#include <attn/attention.hpp>

void f(attn::View<float, 4> q) {
  attn::attention(q, q, q, q, {});
#ifdef ATTN_MISTAKE
  attn::attention(q, q, q, {});
#endif
}
