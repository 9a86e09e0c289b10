// SPDX-License-Identifier: Apache-2.0
#include <attn/error.hpp>
#include <attn/io/config.hpp>
#include <string>
#include <string_view>

#include "input.hpp"

namespace {

using attn::fuzz::check;
using attn::io::Config;

// A value is of one type at most, an integer being also a double.
void check_key(const Config& config, std::string_view key) {
  const auto reads = [&](auto read) {
    try {
      read();
      return true;
    } catch (const attn::Error&) {
      return false;
    }
  };
  const bool integer = reads([&] { config.get<std::int64_t>(key); }), number = reads([&] { config.get<double>(key); });
  const bool truth = reads([&] { config.get<bool>(key); }), string = reads([&] { config.get<std::string>(key); });
  check(number + truth + string <= 1 && (number || !integer));
  check(config.has(key) || !(number || truth || string));
  check(!reads([&] { check(config.get_at_least(key, 1) >= 1); }) || integer);
}

}  // namespace

// config.json: refused with an Error, or settings of which each can be asked for in any type.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const Config config = Config::parse({reinterpret_cast<const char*>(data), size}, "config.json");
    for (const std::string_view key : {"a", "hidden_size", "layer_norm_eps", "model_type", ""}) check_key(config, key);
  } catch (const attn::Error&) {
  }
  return 0;
}
