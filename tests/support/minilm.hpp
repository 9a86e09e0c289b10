// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "support/test_data.hpp"

namespace attn::test {

// The folder of all-MiniLM-L6-v2 (config.json, tokenizer.json, model.safetensors): $ATTN_MINILM_DIR, else where the
// scripts keep it; empty where it is not there.
inline std::filesystem::path minilm_dir() {
  const char* variable = std::getenv("ATTN_MINILM_DIR");
  const std::filesystem::path dir = variable != nullptr && *variable != '\0'
                                        ? std::filesystem::path(variable)
                                        : test_data("../../.cache/models/all-MiniLM-L6-v2");
  return std::filesystem::exists(dir / "tokenizer.json") ? dir : std::filesystem::path();
}

inline bool in_ci() {
  const char* ci = std::getenv("CI");
  return ci != nullptr && std::string_view(ci) == "true";
}

}  // namespace attn::test

// Names the model's folder `dir` for the rest of a test. Without the model the test is skipped, since not every machine
// has a network; in CI, where a skip would hide a broken download, it fails.
#define ATTN_REQUIRE_MINILM(dir)                                                                         \
  const std::filesystem::path dir = ::attn::test::minilm_dir();                                          \
  if (dir.empty() && ::attn::test::in_ci()) FAIL() << "all-MiniLM-L6-v2 is not there (ATTN_MINILM_DIR)"; \
  if (dir.empty()) GTEST_SKIP() << "all-MiniLM-L6-v2 is not there: script/fetch-model fetches it"
