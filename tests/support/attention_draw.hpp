// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/attention_cases.hpp"

namespace attn::test {

// A case from numbers that below(n) draws, 0 ... n - 1: any level of any factor of the table, and sizes of its own.
// Mostly a few tokens, since options and edges meet there as well and many calls fit into a second; one call in 16
// passes blocks of keys and tiles of queries, and one in 64 sums its keys in several chunks.
template <class Below>
AttentionCase draw_case(const Below& below) {
  LevelRow row;
  for (const int levels : attention_factor_levels()) row.push_back(below(levels));
  AttentionCase c = attention_case_of(row);
  c.size.batch = below(4);
  const int kind = below(64);
  const bool is_large = kind % 16 == 15, is_long = kind == 63;
  const int most = is_large ? 48 : 20;
  c.size.queries = below(most);
  c.size.keys = below(most) + (is_long ? 2000 + 64 * below(40) : is_large ? 96 * below(2) : 0);
  if (below(8) == 0 && !is_long) c.size.queries = c.size.keys;
  c.dims = {1 + below(most), 1 + below(most)};
  if (is_long) {
    c.size.batch = 1;
    c.size.queries = 1 + c.size.queries + 32 * below(2);
    c.dims = {1 + c.dims.qk % 8, 1 + c.dims.v % 8};
  }
  c.heads.kv = 1 + below(2);
  c.heads.query = c.heads.kv * (1 + below(3));
  // Whether positions are needed is what the table's rule is about; here they always are said where that could matter.
  if (c.size.queries != c.size.keys && c.align == Align::Kind::unspecified) c.align = Align::Kind::top_left;
  c.number = below(256);
  c.seed = static_cast<std::uint64_t>(1 + below(256));
  return c;
}

}  // namespace attn::test
