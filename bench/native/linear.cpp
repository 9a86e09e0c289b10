// SPDX-License-Identifier: Apache-2.0
#include <attn/linear.hpp>

#include "native/calls.hpp"
#include "native/context.hpp"
#include "native/guard.hpp"

// A packed weight for such products; null on failure. Lives until the process ends, as all that is made here.
BENCH_API void* bench_pack(const BenchMatmul* m) {
  void* packed = nullptr;
  bench::guarded([&] {
    packed = new attn::PackedWeight(attn::view(m->weight, m->outputs, m->inputs), bench::context_of(m->threads));
  });
  return packed;
}

BENCH_API int bench_matmul(const void* packed, const BenchMatmul* m) {
  return bench::guarded([&] {
    attn::linear(attn::view(m->x, m->rows, m->inputs), *static_cast<const attn::PackedWeight*>(packed),
                 attn::view(m->y, m->rows, m->outputs), {}, bench::context_of(m->threads));
  });
}
