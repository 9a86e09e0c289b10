// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/export.hpp>
#include <attn/version.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace attn::models {

// How a text's token vectors become one vector.
enum class Pooling : std::uint8_t {
  mean,  // the mean over its tokens, [CLS] and [SEP] included (Reimers & Gurevych 2019, section 3)
  cls,   // the vector of its first token
};

inline namespace ATTN_ABI {

// How a model folder says that sentence embeddings are to be made, in the files that sentence-transformers writes.
struct SentenceSettings {
  std::optional<std::int64_t> max_seq_length = {};  // tokens a text is cut to; absent: as many as the model takes
  Pooling pooling = Pooling::mean;
  std::string refused = {};  // why `embed` cannot follow the folder, a sentence that names the file; empty: it can
};

}  // namespace ATTN_ABI

// Reads sentence_bert_config.json, modules.json and the pooling module's config.json, each where there is one.
// Throws Error naming the file for one that is malformed; a pooling or module that is well formed but that `embed`
// does not do is told in `refused`, since everything else of the model can be used.
ATTN_API SentenceSettings read_sentence_settings(const std::filesystem::path& folder);

}  // namespace attn::models
