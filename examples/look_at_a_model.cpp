// SPDX-License-Identifier: Apache-2.0
// Where do the heads of a real model look? Loads a model folder, records a text, and tells each head's habit.
#include <attn/inspect.hpp>
#include <attn/models.hpp>
#include <cstdio>
#include <exception>

int main(int argc, char** argv) try {
  if (argc != 3) throw attn::Error("look_at_a_model", "", "usage: look_at_a_model MODEL_DIR TEXT");
  const attn::models::BertModel model = attn::models::load(argv[1]);
  const attn::inspect::Record record = attn::inspect::record(model, argv[2]);

  for (const std::string& token : record.encoding.tokens) std::printf("%s ", token.c_str());
  std::printf("\n");
  for (const attn::inspect::HeadPattern& p : attn::inspect::patterns(record)) {
    std::printf("layer %2td head %2td: %4.1f %% of its weight on %s\n", p.layer, p.head, 100 * p.share_of(p.most),
                attn::inspect::name_of(p.most).data());
  }
  // Every weight is there to be read: how much the second token looks at the third, in the first layer's first head.
  if (record.encoding.ids.size() > 2 && !record.weights.empty()) {
    std::printf("%.4f\n", record.weights[0].view<float, 3>()(0, 1, 2));
  }
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
