// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/attention.hpp"

namespace attn::kernels {

// A number for each query, of any floating dtype. dtype none: zeros.
struct Column {
  DType dtype = DType::none;
  const void* data = nullptr;
  std::ptrdiff_t stride = 0;
};

// Some queries of one head, of which what the forward found is known.
struct BackwardQueries {
  AttentionTask forward = {};      // of these queries, its outputs aside
  Matrix out = {}, grad_out = {};  // grad_out none: zeros
  Column lse = {}, grad_lse = {};
  MutableMatrix dq = {};  // none: not wanted
};

// Some keys of the sequence, of the kv head that the queries read.
struct BackwardKeys {
  std::ptrdiff_t first = 0, keys = 0;
  Matrix k = {}, v = {};           // from key `first` on
  MutableMatrix dk = {}, dv = {};  // likewise; none: not wanted
};

// Head dims of a call, and what it wants: the same for all its parts.
struct BackwardCall {
  std::int64_t target = 0;
  DType compute = DType::f32;  // f32 or f64
  // How bf16 is multiplied by bf16. Other than widened only if q, k, v, grad_out and the gradients by the first three
  // are bf16, and the machine has it.
  base::Bf16Products bf16 = base::Bf16Products::widened;
  std::ptrdiff_t dim_qk = 0, dim_v = 0;
  double scale = 1;
  bool wants_dq = false, wants_dk = false, wants_dv = false;
  bool adds = false;  // to what stands in the outputs
};

// Most queries and keys of a part, and what parts of keys start at multiples of. Parts of queries are multiples of
// `tile_queries` long, but for the last.
struct BackwardParts {
  std::ptrdiff_t tile_queries = 0, queries = 0, keys = 0;
};
BackwardParts backward_parts(const BackwardCall& call) noexcept;

// The backward of attention. Parts of queries and of keys each have a state, in memory aligned to 64 bytes that the
// caller holds:
//
//   begin_queries, begin_keys  once for each part: reads its operands
//   backward_pair              once for each two parts that see each other: adds to both states
//   end_queries, end_keys      after a part's last pair: stores its gradients
//
// Every element of a gradient is one chain of fused multiply-adds, of dq over the keys, of dk and dv over the queries,
// in the order of the calls and in their own order within a part. So the same order of calls gives the same bits, and
// however a sequence is cut into parts, as long as the order of its tokens is kept. A hidden pair adds an exact zero,
// or nothing where that would not be zero. Where products of bf16 are not widened, a chain is one of sums over 32 keys
// or queries, and weights and derivatives by scores meet the other operand rounded to bf16
// (attention_backward_bf16.hpp).
std::size_t query_state_bytes(const BackwardCall& call, std::ptrdiff_t queries) noexcept;
std::size_t key_state_bytes(const BackwardCall& call, std::ptrdiff_t keys) noexcept;
std::size_t backward_work_bytes(const BackwardCall& call) noexcept;  // what backward_pair and bias_pair work in

// Returns these queries' part of dsink; 0 without a sink.
double begin_queries(const BackwardCall& call, const BackwardQueries& queries, std::byte* state) noexcept;
void begin_keys(const BackwardCall& call, const BackwardKeys& keys, std::byte* state) noexcept;
void backward_pair(const BackwardCall& call, const BackwardQueries& queries, std::byte* query_state,
                   const BackwardKeys& keys, std::byte* key_state, std::byte* work) noexcept;
void end_queries(const BackwardCall& call, const BackwardQueries& queries, std::byte* state) noexcept;
void end_keys(const BackwardCall& call, const BackwardKeys& keys, std::byte* state) noexcept;

// Derivatives by the bias, summed in the compute type: that of query i of tile t and key j of the part of keys is added
// to sum[t * tile_stride + j * key_stride + i], so that a stride of 0 sums over what is broadcast.
struct BiasSum {
  void* sum = nullptr;
  std::ptrdiff_t tile_stride = 0, key_stride = 0;
};
// Adds those of two parts.
void bias_pair(const BackwardCall& call, const BackwardQueries& queries, std::byte* query_state,
               const BackwardKeys& keys, std::byte* key_state, const BiasSum& sum, std::byte* work) noexcept;

}  // namespace attn::kernels
