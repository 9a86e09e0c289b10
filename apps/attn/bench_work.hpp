// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/attention.hpp>
#include <attn/tensor.hpp>
#include <cstddef>
#include <string>

namespace attn::app {

// A shape of attention to be timed, as the command line says it.
struct BenchShape {
  std::string shape;             // "B,H,L,S,D": batch, query heads, queries, keys, head dim
  std::ptrdiff_t kv_heads = 0;   // 0: as many as query heads
  std::ptrdiff_t value_dim = 0;  // 0: as the head dim
  std::string dtype = "f32";
  bool is_causal = false;
  std::string window = {};  // "LEFT,RIGHT" or nothing
};

// The call that it means, on random numbers, and what that call costs at least.
struct BenchWork {
  Tensor q = {}, k = {}, v = {}, out = {};
  AttentionOptions options = {};  // the last query stands at the last key
  double flops = 0;               // of both products over the visible pairs: 2 (D + Dv) each
  double bytes = 0;               // q, k and v read once, out written once
};

// Throws Error naming the option that makes no sense, std::bad_alloc when there is no memory.
BenchWork make_bench_work(const BenchShape& shape);

}  // namespace attn::app
