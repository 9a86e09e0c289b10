// SPDX-License-Identifier: Apache-2.0
#include <attn/attention_backward.hpp>
#include <iostream>
#include <memory>

#include "gtest/gtest.h"
#include "support/attention_cases.hpp"
#include "support/attention_grad_data.hpp"
#include "support/isas.hpp"

namespace attn::test {
namespace {

// Every case of the forward's table, on every instruction set, against the f64 twin.
TEST(AttentionBackwardTable, EveryCaseMatchesTheReferenceOnEveryIsa) {
  std::vector<std::unique_ptr<Context>> contexts;
  for (const std::string& isa : isas_to_test()) {
    contexts.push_back(std::make_unique<Context>(ContextOptions{.threads = 2, .isa = isa}));
  }
  for (const AttentionCase& c : attention_cases()) {
    AttentionGradData data(c);
    const auto expected = data.reference();
    for (const auto& context : contexts) {
      data.forward(*context);
      data.poison_grads();
      ASSERT_NO_THROW(data.backward(*context)) << c.name();
      EXPECT_EQ(data.complaint(expected), "") << context->isa() << ": " << c.name();
    }
  }
}

}  // namespace
}  // namespace attn::test
