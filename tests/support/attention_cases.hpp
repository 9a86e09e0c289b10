// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/align.hpp>
#include <attn/attention_options.hpp>
#include <attn/dtype.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "support/guarded_array.hpp"
#include "support/pairwise.hpp"

namespace attn::test {

enum class MaskKind {
  none,
  causal,
  window,        // both sides
  window_left,   // the right side open
  window_right,  // the left side open
  prefix_lm,
  lengths,
  documents,
  keep,       // a value for each pair of each head
  keep_keys,  // (batch, 1, 1, keys), as key padding
  drop,       // (1, heads, queries, keys)
  causal_lengths,
  causal_window,
  prefix_keep,
  window_documents,
  lengths_drop,
  empty_rows,  // some queries see no key
  nothing,     // none does
};
enum class BiasKind { none, full, batch, heads, rows, keys, with_infinity };
enum class PackingKind { none, packed, packed_with_gaps };
enum class ScaleKind { standard, larger, zero, negative };
enum class OutputSet {
  out,
  out_lse,
  out_weights,
  out_scaled,
  out_capped,
  out_masked,
  lse,
  weights_lse,
  everything,
};

struct BatchSize {
  std::ptrdiff_t batch, queries, keys;
};
struct HeadCounts {
  std::ptrdiff_t query, kv;
};
struct HeadDims {
  std::ptrdiff_t qk, v;
};

// How far a result may stand from the f64 reference, and why.
struct Tolerance {
  double out = 0;      // times max|out|, for f32 and f64
  double map = 0;      // weights: absolute; scores and lse: times max(1, max|score|)
  double rounded = 0;  // bf16, f16: Frobenius error, times that of the reference rounded once
  const char* reason = "";
};

// One call of attention as data: sizes, memory, dtypes and options. attention_data.hpp makes its operands.
struct AttentionCase {
  int number = 0;
  std::uint64_t seed = 0;
  BatchSize size = {1, 1, 1};  // of a packed case: sequences, and their greatest lengths
  HeadCounts heads = {1, 1};
  HeadDims dims = {8, 8};
  DType q = DType::f32, k = DType::f32, v = DType::f32, out = DType::f32;
  DType options_dtype = DType::f32;  // of bias, sink and alibi
  DType map_dtype = DType::f32;      // of weights and scores
  Layout q_layout = Layout::dense, k_layout = Layout::dense, v_layout = Layout::dense, out_layout = Layout::dense;
  Layout options_layout = Layout::dense;  // of bias, keep and drop
  MaskKind mask = MaskKind::none;
  Align::Kind align = Align::Kind::unspecified;
  BiasKind bias = BiasKind::none;
  std::optional<double> softcap = {};
  bool sink = false, alibi = false;
  ScaleKind scale = ScaleKind::standard;
  double dropout_p = 0;
  PackingKind packing = PackingKind::none;
  OutputSet outputs = OutputSet::out;
  double q_magnitude = 1;  // q is unit-normal times this

  bool computes_f64() const { return q == DType::f64 || k == DType::f64 || v == DType::f64; }
  Tolerance tolerance() const;
  // All of it in words, to find and repeat the case by.
  std::string name() const;
};

// More than 300 cases in which every pair of levels of every two factors occurs (so every pair of options, and every
// dtype with every option), less what the rule below forbids.
const std::vector<AttentionCase>& attention_cases();

// The factors behind the table: how many levels each has, what a row of them means, and which rows are no calls at all:
// options that depend on positions, with L != S and no alignment.
std::vector<int> attention_factor_levels();
AttentionCase attention_case_of(const LevelRow& row);
bool attention_row_allowed(const LevelRow& row);

}  // namespace attn::test
