// SPDX-License-Identifier: Apache-2.0
#include "support/pairwise.hpp"

#include <stdexcept>
#include <tuple>
#include <utility>

namespace attn::test {

PairCoverage::PairCoverage(const std::vector<int>& levels) : levels_(levels) {
  for (const int n : levels) {
    first_.push_back(total_);
    total_ += n;
  }
  covered_.assign(static_cast<std::size_t>(total_) * static_cast<std::size_t>(total_), false);
}

std::size_t PairCoverage::at(int factor_a, int level_a, int factor_b, int level_b) const {
  if (factor_a > factor_b) return at(factor_b, level_b, factor_a, level_a);
  const int a = first_[static_cast<std::size_t>(factor_a)] + level_a;
  const int b = first_[static_cast<std::size_t>(factor_b)] + level_b;
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(total_) + static_cast<std::size_t>(b);
}

bool PairCoverage::covered(int factor_a, int level_a, int factor_b, int level_b) const {
  return covered_[at(factor_a, level_a, factor_b, level_b)];
}

void PairCoverage::add(const LevelRow& row) {
  const int factors = static_cast<int>(levels_.size());
  for (int a = 0; a < factors; ++a) {
    for (int b = a + 1; b < factors; ++b) {
      covered_[at(a, row[static_cast<std::size_t>(a)], b, row[static_cast<std::size_t>(b)])] = true;
    }
  }
}

int PairCoverage::gain(const LevelRow& row, int factor, int level) const {
  int gain = 0;
  for (int other = 0; other < static_cast<int>(levels_.size()); ++other) {
    const int chosen = row[static_cast<std::size_t>(other)];
    if (other != factor && chosen >= 0 && !covered(factor, level, other, chosen)) ++gain;
  }
  return gain;
}

LevelRow PairCoverage::first_missing(const RowRule& allowed) {
  const int factors = static_cast<int>(levels_.size());
  for (; next_a_ < factors; ++next_a_, next_b_ = next_a_ + 1) {
    for (; next_b_ < factors; ++next_b_) {
      for (int i = 0; i < levels_[static_cast<std::size_t>(next_a_)]; ++i) {
        for (int j = 0; j < levels_[static_cast<std::size_t>(next_b_)]; ++j) {
          if (covered(next_a_, i, next_b_, j)) continue;
          LevelRow row(levels_.size(), -1);
          row[static_cast<std::size_t>(next_a_)] = i;
          row[static_cast<std::size_t>(next_b_)] = j;
          if (allowed(row)) return row;
        }
      }
    }
  }
  return {};
}

namespace {

// Fills in the levels that are not chosen yet. Ties go round, so that no level is favoured.
void complete(LevelRow& row, const std::vector<int>& levels, const PairCoverage& coverage, const RowRule& allowed,
              int turn) {
  for (std::size_t factor = 0; factor < levels.size(); ++factor) {
    if (row[factor] >= 0) continue;
    int best = -1, best_gain = -1;
    for (int k = 0; k < levels[factor]; ++k) {
      const int level = (k + turn) % levels[factor];
      LevelRow tried = row;
      tried[factor] = level;
      const int gain = coverage.gain(row, static_cast<int>(factor), level);
      if (gain > best_gain && allowed(tried)) std::tie(best, best_gain) = std::pair(level, gain);
    }
    if (best < 0) throw std::logic_error("pairwise_rows: the rule leaves no level for a factor");
    row[factor] = best;
  }
}

}  // namespace

std::vector<LevelRow> pairwise_rows(const std::vector<int>& levels, const RowRule& allowed) {
  std::vector<LevelRow> rows;
  PairCoverage coverage(levels);
  for (LevelRow row = coverage.first_missing(allowed); !row.empty(); row = coverage.first_missing(allowed)) {
    complete(row, levels, coverage, allowed, static_cast<int>(rows.size()));
    coverage.add(row);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace attn::test
