// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/attention_options.hpp>
#include <attn/inspect/explain.hpp>
#include <filesystem>
#include <memory>

namespace attn::app {

// An example as a JSON file states it: matrices x, w_q, w_k, w_v or q, k, v as lists of rows, and perhaps causal,
// align, window, scale, softcap, mask, bias, tokens and note.
struct ExampleFile {
  inspect::Example example = {};
  AttentionOptions options = {};  // views `mask` and `bias`
  Tensor mask = {}, bias = {};
};

// Throws Error naming the file, the key, what was expected and what was found.
ExampleFile read_example(const std::filesystem::path& file);

}  // namespace attn::app
