// SPDX-License-Identifier: Apache-2.0
// A const tensor is not an output.
#include <attn/attention.hpp>

void f(const attn::Tensor& q, attn::Tensor& out) {
  attn::attention(q, q, q, out);
#ifdef ATTN_MISTAKE
  attn::attention(q, q, q, q);
#endif
}
