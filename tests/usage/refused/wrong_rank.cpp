// SPDX-License-Identifier: Apache-2.0
// The rank is part of the type: (batch, token, dim) without its heads is another one.
#include <attn/attention.hpp>

void f(attn::View<float, 3> q, attn::View<float, 4> out) {
  attn::attention(q.unsqueeze(1), q.unsqueeze(1), q.unsqueeze(1), out);
#ifdef ATTN_MISTAKE
  attn::attention(q, q, q, out);
#endif
}
