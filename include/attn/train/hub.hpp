// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/train/task.hpp>
#include <filesystem>

namespace attn::train {

// Writes a trained text encoder (of the tasks reviews, tagging and entities) as a folder that `transformers` loads with
// the same outputs, and models::load too: config.json, model.safetensors, tokenizer.json, tokenizer_config.json,
// README.md, and attn_hub.py, with which transformers reads texts. The folder is made if it is not there.
//
// The network is a plain BERT, BertForTokenClassification: what the encoder knows of a token becomes one row of the
// table of words and one of the table of token types (two of the three tables are added up here, so that the sums of
// embeddings differ in their last bits; layers of a recipe with another precision compute in f32 there). The class of a
// text is told by the mean of its tokens' logits.
//
// Throws Error for another task, for parameters that are not that model's, and what AtomicFile throws.
ATTN_API void export_hub(const std::filesystem::path& folder, const Recipe& recipe, const Lexicon& lexicon,
                         const nn::ParameterList& parameters);

}  // namespace attn::train
