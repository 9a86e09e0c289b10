// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/models.hpp>
#include <cstddef>

#include "native/context.hpp"
#include "native/guard.hpp"

// The model in a folder; null on failure. Lives until the process ends.
BENCH_API void* bench_load(const char* folder, int threads) {
  void* model = nullptr;
  bench::guarded([&] { model = new attn::models::BertModel(attn::models::load(folder, bench::context_of(threads))); });
  return model;
}

// The last hidden state (texts, width, embedding) of padded token ids (texts, width), 0 at padding.
BENCH_API int bench_encode(const void* model, const std::int64_t* ids, const std::int64_t* mask, std::int64_t texts,
                           std::int64_t width, float* hidden, int threads) {
  return bench::guarded([&] {
    const attn::Tensor result = static_cast<const attn::models::BertModel*>(model)->forward(
        {.ids = attn::view(ids, texts, width), .mask = attn::view(mask, texts, width)}, bench::context_of(threads));
    const std::span<const float> values = result.values<float>();
    std::copy(values.begin(), values.end(), hidden);
  });
}
