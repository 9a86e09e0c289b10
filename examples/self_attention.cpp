// SPDX-License-Identifier: Apache-2.0
// Self-attention on a tiny example, every number of which can be checked by hand.
#include <attn/attn.hpp>
#include <cstdio>

int main() {
  // Three tokens, one head of dim 2. Rows are tokens.
  const float q[] = {2, 1, 0, 1, 1, 1};
  const float k[] = {0, 2, 2, 0, 1, 1};
  const float v[] = {1, 0, 1, 2, 1, 1};
  float out[6], weights[9];

  // A view says how memory is to be read: (batch, head, token, dim). Nothing is copied.
  attn::attention(attn::view(q, 1, 1, 3, 2), attn::view(k, 1, 1, 3, 2), attn::view(v, 1, 1, 3, 2),
                  {.out = attn::view(out, 1, 1, 3, 2), .weights = attn::view(weights, 1, 1, 3, 3)});

  for (int i = 0; i < 3; ++i) {
    std::printf("token %d looks at (%.6f, %.6f, %.6f) and becomes (%.6f, %.6f)\n", i, weights[3 * i],
                weights[3 * i + 1], weights[3 * i + 2], out[2 * i], out[2 * i + 1]);
  }
}
