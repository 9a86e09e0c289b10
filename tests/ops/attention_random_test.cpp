// SPDX-License-Identifier: Apache-2.0
#include <attn/attention.hpp>

#include "gtest/gtest.h"
#include "support/attention_data.hpp"
#include "support/attention_draw.hpp"
#include "support/attention_verdict.hpp"
#include "support/isas.hpp"
#include "support/random.hpp"

namespace attn::test {
namespace {

// What the fuzzer does with its inputs, with random numbers and on every instruction set. Wrong semantics are looked
// for, not roundings: tolerances are ten times those of the table.
TEST(AttentionRandom, AnyShapesStridesDtypesAndOptionsGiveWhatTheReferenceGives) {
  Random random(base_seed() + 11);
  std::vector<std::unique_ptr<Context>> contexts;
  for (const std::string& isa : isas_to_test()) {
    contexts.push_back(std::make_unique<Context>(ContextOptions{.threads = 2, .isa = isa}));
  }
  for (int i = 0; i < 400; ++i) {
    const AttentionCase c = draw_case([&](int n) { return static_cast<int>(random.below(n)); });
    Tolerance tolerance = c.tolerance();
    tolerance.out *= 10;
    tolerance.map *= 10;
    tolerance.rounded *= 3;
    AttentionData data(c);
    const auto expected = reference_attention(data.q.in(), data.k.in(), data.v.in(), data.spec);
    const AttentionOptions options = build(data.spec);
    for (const auto& context : contexts) {
      data.poison_outputs();
      attention(data.q.in(), {data.k.in(), data.v.in()}, data.outputs(), options, *context);
      EXPECT_EQ(attention_complaint(c, tolerance, data, expected), "")
          << context->isa() << ", " << i << ": " << c.name();
    }
  }
}

}  // namespace
}  // namespace attn::test
