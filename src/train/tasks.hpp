// SPDX-License-Identifier: Apache-2.0
// One file a task; make_task chooses.
#pragma once

#include <attn/models/transformer_stack.hpp>
#include <attn/train/task.hpp>

namespace attn::train {

constexpr std::int32_t kImageLabels = 10, kReviewLabels = 2;
// A target that counts for nothing, as cross_entropy has it.
constexpr std::int32_t kIgnored = -100;

std::unique_ptr<Task> make_image_task(const Recipe& recipe, const Lexicon& lexicon);
std::unique_ptr<Task> make_review_task(const Recipe& recipe, const Lexicon& lexicon);
// Tagging and entities.
std::unique_ptr<Task> make_tag_task(const Recipe& recipe, const Lexicon& lexicon);
std::unique_ptr<Task> make_translation_task(const Recipe& recipe, const Lexicon& lexicon);
std::unique_ptr<Task> make_language_task(const Recipe& recipe, const Lexicon& lexicon);

models::TransformerShape transformer_of(const Recipe& recipe, models::NormPlace norm);

}  // namespace attn::train
