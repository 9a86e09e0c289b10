// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/attention.hpp>
#include <cstdlib>
#include <iostream>
#include <map>

#include "gtest/gtest.h"
#include "support/attention_cases.hpp"
#include "support/attention_data.hpp"
#include "support/attention_verdict.hpp"
#include "support/closeness.hpp"

namespace attn::test {
namespace {

TEST(AttentionTable, HoldsEveryPairOfLevels) {
  const std::vector<int> levels = attention_factor_levels();
  const std::vector<LevelRow> rows = pairwise_rows(levels, attention_row_allowed);
  EXPECT_GE(attention_cases().size(), 300u);
  EXPECT_EQ(rows.size(), attention_cases().size());

  // Counted anew, without the generator's own book-keeping: each pair occurs or is against the rule.
  const int factors = static_cast<int>(levels.size());
  int pairs = 0;
  for (int a = 0; a < factors; ++a) {
    for (int b = a + 1; b < factors; ++b) {
      const auto at_a = static_cast<std::size_t>(a), at_b = static_cast<std::size_t>(b);
      std::vector<bool> seen(static_cast<std::size_t>(levels[at_a] * levels[at_b]));
      for (const LevelRow& row : rows) seen[static_cast<std::size_t>(row[at_a] * levels[at_b] + row[at_b])] = true;
      for (std::size_t pair = 0; pair < seen.size(); ++pair, ++pairs) {
        EXPECT_TRUE(seen[pair]) << "factors " << a << " and " << b << ", pair " << pair;
      }
    }
  }
  for (const LevelRow& row : rows) EXPECT_TRUE(attention_row_allowed(row));
  std::cout << attention_cases().size() << " cases hold all " << pairs << " pairs of levels of " << factors
            << " factors\n";
}

// Every case, on every instruction set, against the f64 reference.
TEST(AttentionTable, EveryCaseMatchesTheReferenceOnEveryIsa) {
  const std::vector<std::string> isas = available_isas();
  std::vector<std::unique_ptr<Context>> contexts;
  for (const std::string& isa : isas) {
    contexts.push_back(std::make_unique<Context>(ContextOptions{.threads = 2, .isa = isa}));
  }
  std::map<std::string, double> worst;  // by what is computed and stored: the largest share of what is allowed
  for (const AttentionCase& c : attention_cases()) {
    AttentionData data(c);
    const auto expected = reference_attention(data.q.in(), data.k.in(), data.v.in(), data.spec);
    const AttentionOptions options = build(data.spec);
    for (const auto& context : contexts) {
      data.poison_outputs();
      ASSERT_NO_THROW(attention(data.q.in(), {data.k.in(), data.v.in()}, data.outputs(), options, *context))
          << c.name();
      OutError error;
      if (data.out.wanted()) error = out_error(data.out.values(), expected.out, c.out, c.tolerance());
      EXPECT_EQ(attention_complaint(c, c.tolerance(), data, expected), "") << context->isa() << ": " << c.name();
      const std::string kind = std::string(c.computes_f64() ? "f64" : "f32") + " stored as " +
                               std::string(name_of(c.out)) + (c.q_magnitude > 1 ? ", q times 4" : "");
      worst[kind] = std::max(worst[kind], error.share());
    }
  }
  std::cout << attention_cases().size() << " cases on " << isas.size()
            << " instruction sets; largest share of the error allowed, by what is computed:\n";
  for (const auto& [kind, share] : worst) std::cout << "  " << kind << ": " << share << '\n';
}

// ATTN_ISA chooses for whoever names no instruction set; one that the machine lacks is an error, not a guess.
TEST(AttentionTable, DefaultContextTakesTheIsaOfTheEnvironment) {
  const std::vector<std::string> isas = available_isas();
  const char* given = std::getenv("ATTN_ISA");
  const std::string wanted = given == nullptr ? isas.front() : given;
  if (std::find(isas.begin(), isas.end(), wanted) == isas.end()) {
    EXPECT_THROW(default_context(), Error);
    return;
  }
  ASSERT_EQ(default_context().isa(), wanted);
  Context named({.isa = wanted});
  for (const AttentionCase& c : attention_cases()) {
    AttentionData data(c);
    const auto run = [&](Context& context) {
      data.poison_outputs();
      attention(data.q.in(), {data.k.in(), data.v.in()}, data.outputs(), build(data.spec), context);
      return std::vector{data.out.bits(), data.lse.bits(), data.weights.bits(), data.scores.bits()};
    };
    EXPECT_EQ(run(default_context()), run(named)) << c.name();
  }
}

}  // namespace
}  // namespace attn::test
