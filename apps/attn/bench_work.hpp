// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/attention_backward.hpp>
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
  bool is_backward = false;  // the gradients in place of the forward call
  std::string window = {};   // "LEFT,RIGHT" or nothing
};

// The call that it means, on random numbers, and what that call costs at least.
struct BenchWork {
  Tensor q = {}, k = {}, v = {}, out = {};
  Tensor lse = {}, grad_out = {}, dq = {}, dk = {}, dv = {};  // of the backward call only
  AttentionOptions options = {};                              // the last query stands at the last key
  double flops = 0;  // of the products over the visible pairs: 2 (D + Dv) each, 2.5 times that backward
  double bytes = 0;  // every operand read once, every result written once

  bool is_backward() const { return grad_out.has_value(); }
  void call(Context& context);
  Description describe(Context& context);
};

// Throws Error naming the option that makes no sense, std::bad_alloc when there is no memory.
BenchWork make_bench_work(const BenchShape& shape);

}  // namespace attn::app
