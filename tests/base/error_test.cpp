// SPDX-License-Identifier: Apache-2.0
#include <attn/error.hpp>
#include <new>
#include <type_traits>

#include "gtest/gtest.h"

namespace attn {
namespace {

TEST(Error, SaysWhereWhatAndWhy) {
  EXPECT_STREQ(Error("attention", "k", "head dim 80, expected 64 as in q").what(),
               "attention: k: head dim 80, expected 64 as in q");
  EXPECT_STREQ(Error("model.safetensors", "", "is empty").what(), "model.safetensors: is empty");
}

TEST(Status, IsTheSentenceOfAnError) {
  EXPECT_TRUE(Status().ok());
  const Status status(Error("attention", "k", "is wrong"));
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.message(), "attention: k: is wrong");
  EXPECT_EQ(status.argument(), "k");
}

// check_attention() is noexcept: a verdict must not end the program when there is no memory for its sentence.
TEST(Status, CanBeMadeWithoutMemory) {
  static_assert(std::is_nothrow_constructible_v<Status, const Error&>);
  static_assert(std::is_nothrow_constructible_v<Status, const std::bad_alloc&>);
  EXPECT_FALSE(Status(std::bad_alloc()).ok());
  EXPECT_EQ(Status(std::bad_alloc()).message(), "out of memory");
}

}  // namespace
}  // namespace attn
