// SPDX-License-Identifier: Apache-2.0
// Braces around everything do not say which is a view and which an aggregate.
#include <attn/attention.hpp>

void f(attn::View<float, 4> q) {
  attn::attention({q}, {q}, {q}, {.out = q});
#ifdef ATTN_MISTAKE
  attn::attention({q}, {q}, {q}, {q});
#endif
}
