// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <attn/error.hpp>
#include <attn/io/config.hpp>
#include <cstdint>
#include <string>

#include "support/message.hpp"
#include "support/minilm.hpp"

namespace {

using attn::io::Config;
using attn::test::message_of;

Config parse(std::string_view text) { return Config::parse(text, "config.json"); }

TEST(Config, ReadsEveryType) {
  const Config config = parse(R"({"size": 384, "eps": 1e-12, "whole": 2, "bias": false, "act": "gelu", "none": null})");
  EXPECT_EQ(config.get<std::int64_t>("size"), 384);
  EXPECT_EQ(config.get<double>("eps"), 1e-12);
  EXPECT_EQ(config.get<double>("whole"), 2.0);
  EXPECT_FALSE(config.get<bool>("bias"));
  EXPECT_EQ(config.get<std::string>("act"), "gelu");
  EXPECT_TRUE(config.has("bias"));
  EXPECT_FALSE(config.has("none"));
  EXPECT_FALSE(config.has("absent"));
  EXPECT_EQ(config.name(), "config.json");
}

TEST(Config, FallsBackOnlyWhenAbsent) {
  const Config config = parse(R"({"size": 384, "none": null})");
  EXPECT_EQ(config.get_or<std::int64_t>("size", 1), 384);
  EXPECT_EQ(config.get_or<std::int64_t>("absent", 1), 1);
  EXPECT_EQ(config.get_or<std::string>("none", "x"), "x");
  EXPECT_EQ(message_of([&] { config.get_or<std::string>("size", "x"); }),
            R"(config.json: "size": found an integer, expected a string)");
}

TEST(Config, Sizes) {
  const Config config = parse(R"({"size": 384, "zero": 0, "huge": 18446744073709551615})");
  EXPECT_EQ(config.get_at_least("size", 1), 384);
  EXPECT_EQ(config.get_at_least("absent", 1, 2), 2);
  EXPECT_EQ(message_of([&] { config.get_at_least("zero", 1); }), R"(config.json: "zero": 0, expected at least 1)");
  EXPECT_EQ(message_of([&] { config.get_at_least("zero", 1, 2); }), R"(config.json: "zero": 0, expected at least 1)");
  EXPECT_EQ(message_of([&] { config.get_at_least("absent", 1); }),
            R"(config.json: "absent": missing, expected an integer)");
  EXPECT_EQ(message_of([&] { config.get_at_least("huge", 1); }),
            R"(config.json: "huge": 18446744073709551615, expected at most 9223372036854775807)");
}

TEST(Config, WrongTypes) {
  const Config config = parse(R"({"a": "1", "b": 1.5, "c": [], "d": {}, "e": true})");
  EXPECT_EQ(message_of([&] { config.get<std::int64_t>("a"); }),
            R"(config.json: "a": found a string, expected an integer)");
  EXPECT_EQ(message_of([&] { config.get<std::int64_t>("b"); }),
            R"(config.json: "b": found a number with a fraction or exponent, expected an integer)");
  EXPECT_EQ(message_of([&] { config.get<double>("c"); }), R"(config.json: "c": found an array, expected a number)");
  EXPECT_EQ(message_of([&] { config.get<bool>("d"); }), R"(config.json: "d": found an object, expected true or false)");
  EXPECT_EQ(message_of([&] { config.get<std::string>("e"); }),
            R"(config.json: "e": found a boolean, expected a string)");
  EXPECT_EQ(message_of([&] { config.get<std::string>("f"); }), R"(config.json: "f": missing, expected a string)");
}

TEST(Config, RefusesWhatIsNoObject) {
  EXPECT_EQ(message_of([] { parse("[]"); }), "config.json: found an array, expected an object");
  EXPECT_EQ(message_of([] { parse(R"({"a": 1)"); }), "config.json: not valid JSON at byte 7, where it ends");
  EXPECT_EQ(message_of([] { parse(R"({"a": 1, "a": 2})"); }), R"(config.json: the name "a" occurs twice)");
  EXPECT_EQ(message_of([] { parse("{\"a\": \"\xFF\"}"); }).substr(0, 32), "config.json: not valid JSON at b");
  std::string bomb = R"({"a": )" + std::string(1000000, '[');
  EXPECT_EQ(message_of([&] { parse(bomb); }), "config.json: JSON nested deeper than 100");
  EXPECT_EQ(message_of([] { Config::load("no/such/config.json"); }), "no/such/config.json: no such file");
}

TEST(Config, OfTheModel) {
  ATTN_REQUIRE_MINILM(dir);
  const Config config = Config::load(dir / "config.json");
  EXPECT_EQ(config.get<std::string>("model_type"), "bert");
  EXPECT_EQ(config.get_at_least("hidden_size", 1), 384);
  EXPECT_EQ(config.get<double>("layer_norm_eps"), 1e-12);
}

}  // namespace
