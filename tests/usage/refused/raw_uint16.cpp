// SPDX-License-Identifier: Apache-2.0
// Sixteen bits alone do not say whether they are bf16 or f16.
#include <attn/attention.hpp>

void f(attn::View<std::uint16_t, 4> q) {
  const attn::View<attn::bf16, 4> numbers(attn::bits_as<attn::bf16>(q.data()), q.extents(), q.strides());
  attn::attention(numbers, numbers, numbers, numbers);
#ifdef ATTN_MISTAKE
  attn::attention(q, q, q, q);
#endif
}
