// SPDX-License-Identifier: Apache-2.0
#include "native/context.hpp"

#include <attn/roofline.hpp>
#include <map>
#include <memory>
#include <string>

#include "native/guard.hpp"

namespace bench {

attn::Context& context_of(int threads) {
  static std::map<int, std::unique_ptr<attn::Context>> contexts;
  std::unique_ptr<attn::Context>& context = contexts[threads];
  if (!context) context = std::make_unique<attn::Context>(attn::ContextOptions{.threads = threads});
  return *context;
}

}  // namespace bench

// Raised with every change of what these functions take: a commit of another number cannot be raced against.
BENCH_API int bench_abi() { return 2; }

BENCH_API const char* bench_isa() { return bench::context_of(1).isa().c_str(); }

// The instruction sets of this machine, best first: "avx2 baseline".
BENCH_API const char* bench_isas() {
  static std::string names;
  names.clear();
  for (const std::string& isa : attn::available_isas()) names += (names.empty() ? "" : " ") + isa;
  return names.c_str();
}

// flop/s in registers and byte/s from memory, of so many threads together, on the instruction set named; on the best
// that the machine has when it is null.
BENCH_API int bench_roofline(int threads, const char* isa, double* flops, double* bytes) {
  return bench::guarded([&] {
    attn::Context context({.threads = threads, .isa = isa == nullptr ? "" : isa});
    const attn::Roofline roofline = attn::measure_roofline(attn::DType::f32, context);
    *flops = roofline.flops_per_second;
    *bytes = roofline.bytes_per_second;
  });
}

// flop/s in registers of one core in products of bf16; 0 where the context widens them.
BENCH_API double bench_bf16_peak() {
  attn::Context& context = bench::context_of(1);
  if (context.isa() != "amx" && context.isa() != "avx512_bf16") return 0;
  return attn::measure_roofline(attn::DType::bf16, context).flops_per_second;
}
