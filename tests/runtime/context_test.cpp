// SPDX-License-Identifier: Apache-2.0
#include <attn/context.hpp>
#include <attn/error.hpp>
#include <cstdlib>

#include "gtest/gtest.h"
#include "runtime/isa.hpp"

namespace attn {
namespace {

TEST(Context, DefaultsToEveryProcessorAndTheBestInstructionSet) {
  Context context;
  EXPECT_GE(context.threads(), 1);
  EXPECT_EQ(Context({.threads = 3}).threads(), 3);
  const char* forced = std::getenv("ATTN_ISA");
  EXPECT_EQ(context.isa(), forced != nullptr ? forced : available_isas().front());
}

TEST(Context, EveryInstructionSetOfTheMachineCanBeForced) {
  for (const std::string& isa : available_isas()) EXPECT_EQ(Context({.isa = isa}).isa(), isa);
  EXPECT_EQ(available_isas().size(), runtime::machine_isas().size());
}

TEST(Context, RefusesByName) {
  try {
    Context context({.isa = "sse9"});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()).find("Context: isa: \"sse9\" is not an instruction set of this machine, expected"),
              0u);
  }
  try {
    Context context({.threads = -1});
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "Context: threads: -1, expected 0 (one for each processor) to 4096");
  }
}

}  // namespace
}  // namespace attn
