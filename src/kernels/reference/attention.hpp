// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/any_view.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace attn::kernels::reference {

// The tokens of one batch entry, or of one packed sequence: below, i and j count from its first query and first key.
// With lengths, `keys` is the entry's length: what lies beyond is not read.
struct Entry {
  std::ptrdiff_t batch = 0;  // batch index of the operands that hold it
  std::ptrdiff_t q_begin = 0, queries = 0;
  std::ptrdiff_t k_begin = 0, keys = 0;
};

// Attention said in plain numbers and functions of (n, h, i, j): entry, query head, local query, local key.
struct AttentionInputs {
  In<4> q = {};  // (B, Hq, L, D)
  In<4> k = {};  // (B, Hkv, S, D)
  In<4> v = {};  // (B, Hkv, S, Dv)
  std::span<const Entry> entries = {};
  double scale = 1;
  std::optional<double> softcap = {};
  In<4> bias = {};   // (entries, Hq, queries, keys) or 1 in each place; none: not added
  In<1> sink = {};   // (Hq)
  In<1> alibi = {};  // (Hq)
  // Whether key j shows to query i; empty: it does.
  std::function<bool(std::ptrdiff_t n, std::ptrdiff_t h, std::ptrdiff_t i, std::ptrdiff_t j)> visible = {};
  // Where query i stands among the keys; asked for by alibi only.
  std::function<std::int64_t(std::ptrdiff_t n, std::ptrdiff_t i)> position = {};
  double dropout_p = 0;
  std::uint64_t dropout_seed = 0, dropout_offset = 0;
};

// Everything that attention can tell, row-major in f64. Pairs that no entry holds have score -inf and weight 0.
struct AttentionResult {
  std::vector<double> out;                     // (B, Hq, L, Dv)
  std::vector<double> lse;                     // (B, Hq, L)
  std::vector<double> weights;                 // (B, Hq, L, S), before dropout
  std::vector<double> scaled, capped, masked;  // (B, Hq, L, S), the scores after each step
};

// The readable twin of the fused kernels: every score of every row, one step at a time, in f64. It says what they must
// give, not how. Memory and time O(B Hq L S). The caller has checked shapes.
AttentionResult attention(const AttentionInputs& in);

// Whether the mask or a bias of -inf hides a pair.
bool is_hidden(const AttentionInputs& in, std::ptrdiff_t n, std::ptrdiff_t h, std::ptrdiff_t i, std::ptrdiff_t j);

}  // namespace attn::kernels::reference
