// SPDX-License-Identifier: Apache-2.0
// What the verbs of training share: the files of a run, and scores as text.
#pragma once

#include <attn/train/task.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace attn::app {

inline constexpr const char* kRecipeFile = "recipe.json";
inline constexpr const char* kLexiconFile = "lexicon.json";
inline constexpr const char* kWeightsFile = "best.safetensors";

// "accuracy 0.8812, loss 0.3345"
std::string text_of(const std::vector<train::Score>& scores);
nlohmann::json json_of(const std::vector<train::Score>& scores);

}  // namespace attn::app
