// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace attn::test {

// A choice of one level for each factor; -1: not chosen yet.
using LevelRow = std::vector<int>;
// Whether a row, perhaps with levels not chosen yet, breaks no rule.
using RowRule = std::function<bool(const LevelRow&)>;

// Which pairs of levels of every two factors a table holds.
class PairCoverage {
 public:
  explicit PairCoverage(const std::vector<int>& levels);

  void add(const LevelRow& row);
  bool covered(int factor_a, int level_a, int factor_b, int level_b) const;
  // How many pairs a level would add to the levels that a row has.
  int gain(const LevelRow& row, int factor, int level) const;
  // The first pair that is neither covered nor against the rule, as a row with two levels; empty: none is left.
  LevelRow first_missing(const RowRule& allowed);

 private:
  std::size_t at(int factor_a, int level_a, int factor_b, int level_b) const;

  std::vector<int> levels_;
  std::vector<int> first_;       // place of a factor's level 0 among all levels
  int total_ = 0;                // number of all levels
  std::vector<bool> covered_;    // (total, total)
  int next_a_ = 0, next_b_ = 1;  // factors where the search for a missing pair goes on
};

// Rows in which every pair of levels of every two factors occurs that the rule allows: each row starts with a missing
// pair and takes, factor by factor, the level that brings most missing ones (after Cohen et al. 1997, "The AETG
// system"). Deterministic.
std::vector<LevelRow> pairwise_rows(const std::vector<int>& levels, const RowRule& allowed);

}  // namespace attn::test
