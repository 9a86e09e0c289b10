// SPDX-License-Identifier: Apache-2.0
// What is asked of attn and of the peers. bench/race/native.py says the same in Python.
#pragma once

#include <cstdint>

// One call of attention: all arrays dense, (batch, head, token, dim); the last query stands at the last key.
struct BenchAttention {
  std::int64_t batch, heads, kv_heads, queries, keys, dim, value_dim;
  std::int64_t window_left;  // tokens; -1: no window
  const void *q, *k, *v;
  const bool* keep;   // (queries, keys), or null
  const float* bias;  // (queries, keys), or null
  void* out;
  float* lse;          // (batch, heads, queries), or null
  std::int32_t dtype;  // attn::DType
  std::int32_t is_causal, threads;
};

// Its gradients: `forward.out` and `forward.lse` hold what the forward call has given.
struct BenchBackward {
  BenchAttention forward;
  const void* grad_out;
  void *dq, *dk, *dv;
};

// y (rows, outputs) = x (rows, inputs) W^T with W (outputs, inputs), f32.
struct BenchMatmul {
  std::int64_t rows, inputs, outputs;
  const float *x, *weight;
  float* y;
  std::int32_t threads;
};
