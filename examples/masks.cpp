// SPDX-License-Identifier: Apache-2.0
// Masks say which pairs are visible, and intersect with &. Each picture below shows one, rows = queries.
#include <attn/attn.hpp>
#include <cstdio>
#include <string>
#include <vector>

constexpr int kQueries = 5, kKeys = 8;

void show(const std::string& name, const attn::AttentionOptions& options) {
  const std::vector<float> x(kKeys * 4, 0.0F);
  std::vector<float> weights(kQueries * kKeys);
  const auto q = attn::view(x.data(), 1, 1, kQueries, 4);
  const auto k = attn::view(x.data(), 1, 1, kKeys, 4);
  attn::attention(q, k, k, {.weights = attn::view(weights.data(), 1, 1, kQueries, kKeys)}, options);
  std::printf("%s\n", name.c_str());
  for (int i = 0; i < kQueries; ++i) {
    std::printf("  ");
    for (int j = 0; j < kKeys; ++j) std::printf("%c", weights[static_cast<std::size_t>(i * kKeys + j)] > 0 ? '#' : '.');
    std::printf("\n");
  }
}

int main() {
  using attn::Align, attn::Mask;
  // With fewer queries than keys, the call must say where query 0 stands.
  show("causal, first query at the first key", {.mask = Mask::causal(), .align = Align::top_left()});
  show("causal, last query at the last key", {.mask = Mask::causal(), .align = Align::bottom_right()});
  show("a window of 2 before and 1 after", {.mask = Mask::window(2, 1), .align = Align::top_left()});
  show("causal, but 2 tokens of prefix for all", {.mask = Mask::prefix_lm(2), .align = Align::top_left()});
  show("causal, and 6 keys of a padded text",
       {.mask = Mask::causal() & Mask::lengths({6}), .align = Align::bottom_right()});
}
