// SPDX-License-Identifier: Apache-2.0
// A context outlives the call: it holds threads and memory for the next one.
#include <attn/attention.hpp>

void f(attn::View<float, 4> q) {
  attn::Context context({.threads = 1});
  attn::attention(q, q, q, q, {}, context);
#ifdef ATTN_MISTAKE
  attn::attention(q, q, q, q, {}, attn::Context({.threads = 1}));
#endif
}
