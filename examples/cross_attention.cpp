// SPDX-License-Identifier: Apache-2.0
// Cross-attention: 4 queries of one sequence read 6 keys of another; values are wider than keys, and 8 query heads
// share 2 heads of keys and values (grouped-query attention).
#include <attn/attn.hpp>
#include <cmath>
#include <cstdio>
#include <vector>

int main() {
  constexpr int kQueries = 4, kKeys = 6, kQueryHeads = 8, kKeyHeads = 2, kDim = 16, kValueDim = 32;
  std::vector<float> q(kQueries * kQueryHeads * kDim), k(kKeys * kKeyHeads * kDim), v(kKeys * kKeyHeads * kValueDim);
  std::vector<float> out(kQueries * kQueryHeads * kValueDim), lse(kQueryHeads * kQueries);
  for (std::size_t i = 0; i < q.size(); ++i) q[i] = std::sin(0.1F * static_cast<float>(i));
  for (std::size_t i = 0; i < k.size(); ++i) k[i] = std::cos(0.2F * static_cast<float>(i));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(i / kValueDim % kKeys);

  // Projections write (batch, token, head, dim); from_blhd reads that as it lies, and so does the output.
  attn::attention(attn::from_blhd(q.data(), {.tokens = kQueries, .heads = kQueryHeads, .dim = kDim}),
                  attn::from_blhd(k.data(), {.tokens = kKeys, .heads = kKeyHeads, .dim = kDim}),
                  attn::from_blhd(v.data(), {.tokens = kKeys, .heads = kKeyHeads, .dim = kValueDim}),
                  {.out = attn::from_blhd(out.data(), {.tokens = kQueries, .heads = kQueryHeads, .dim = kValueDim}),
                   .lse = attn::view(lse.data(), 1, kQueryHeads, kQueries)});

  for (int i = 0; i < kQueries; ++i) {
    std::printf("query %d: out[0] = %.4f, log of the denominator = %.4f\n", i,
                out[static_cast<std::size_t>(i * kQueryHeads * kValueDim)], lse[static_cast<std::size_t>(i)]);
  }
}
