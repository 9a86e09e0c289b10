// SPDX-License-Identifier: Apache-2.0
// The worked example of three tokens, with what the core library offers.
#include <attn/attention.hpp>
#include <cmath>
#include <cstdio>
#include <vector>

int main() {
  const std::vector<float> q = {2, 1, 0, 1, 1, 1}, k = {0, 2, 2, 0, 1, 1}, v = {1, 0, 1, 2, 1, 1};
  const std::vector<float> expected = {1, 1.435946f, 1, 0.564054f, 1, 1};
  const attn::Shape shape = {.batch = 1, .tokens = 3, .heads = 1, .dim = 2};
  std::vector<float> out(6);
  try {
    attn::attention(attn::from_blhd(q.data(), shape), attn::from_blhd(k.data(), shape),
                    attn::from_blhd(v.data(), shape), attn::from_blhd(out.data(), shape));
    // An exception must cross the library's border as the type it is.
    attn::attention(attn::from_blhd(q.data(), shape), attn::from_blhd(k.data(), shape),
                    attn::from_blhd(v.data(), {.batch = 1, .tokens = 2, .heads = 1, .dim = 2}),
                    attn::from_blhd(out.data(), shape));
    std::puts("v with fewer tokens than k was accepted");
    return 1;
  } catch (const attn::Error& error) {
    std::printf("refused as it should be: %s\n", error.what());
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::printf("%.6f%c", static_cast<double>(out[i]), i % 2 == 0 ? ' ' : '\n');
    if (std::fabs(out[i] - expected[i]) > 1e-6f) return 1;
  }
  return 0;
}
