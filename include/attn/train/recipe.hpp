// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/dtype.hpp>
#include <attn/export.hpp>
#include <attn/train/vocabulary.hpp>
#include <attn/version.hpp>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace attn::train {

// What is learned, from what script/data makes under the same name.
enum class TaskKind : std::uint8_t { images, reviews, tagging, entities, translation, language };

inline namespace ATTN_ABI {

// The network. Encoder and decoder layers norm before each part ("pre-norm"), which needs no long warm-up.
struct ModelRecipe {
  std::ptrdiff_t width = 128;        // features of a token, a multiple of heads
  std::ptrdiff_t layers = 3;         // of the encoder, of the decoder, or of each where there are both
  std::ptrdiff_t heads = 4;          // of every attention
  std::ptrdiff_t feedforward = 256;  // width between the two projections
  double dropout = 0.1;              // of embeddings, attention weights and residuals; 0 up to below 1
  // The share of tokens that training takes for unknown ones, so that it learns from what stands beside them (Iyyer et
  // al. 2015); 0 up to below 1. For reviews, tagging and entities.
  double token_dropout = 0;
  std::ptrdiff_t patch = 4;         // side of an image's patches, in pixels; divides 28
  std::ptrdiff_t max_tokens = 128;  // of a text; what is longer is cut
};

struct TrainingRecipe {
  std::int64_t steps = 1000;
  std::ptrdiff_t batch = 64;          // examples of a step at most
  std::ptrdiff_t batch_tokens = 0;    // its tokens at most, padding included; 0: no limit
  double learning_rate = 1e-3;        // the highest, after warm-up; it falls to 0 along a cosine
  std::int64_t warmup = 100;          // steps in which it rises
  double weight_decay = 0.01;         // AdamW's, of matrices only
  double clip = 1;                    // norm to which all gradients together are cut
  double label_smoothing = 0;         // of the cross entropy
  double average = 0;                 // decay of a running mean of the weights, which is judged and kept in their
                                      // place (nn::WeightAverage); 0 up to below 1, 0: none
  std::int64_t evaluate_every = 500;  // steps between two looks at the validation part
  std::int64_t patience = 0;          // evaluations without a better one until training stops; 0: goes to the end
  std::int64_t checkpoint_every = 500;
  std::uint64_t seed = 1;  // of weights, order and dropout
  // f32, bf16 or f16: what layers compute with and keep for their gradients. Weights, their gradients and what the
  // optimiser keeps are f32 always. f16's small range wants a scaled loss (nn::LossScaler).
  DType precision = DType::f32;
};

struct Recipe {
  TaskKind task = TaskKind::images;
  std::filesystem::path data = {};  // the folder that script/data made
  VocabularyOptions tokens = {};    // of texts; for translation and language usually pieces
  ModelRecipe model = {};
  TrainingRecipe training = {};
};

}  // namespace ATTN_ABI

// A recipe file: {"task": "reviews", "data": "data/reviews", "tokens": {"kind": "characters", "max_size": 3000,
// "min_count": 2}, "model": {...}, "training": {...}} with the names above; what is not given keeps its default.
// Relative folders are taken from where the program runs. Throws Error, naming file and key, for an unknown key, a
// wrong type, or a value that makes no sense (heads that do not divide the width, a dropout of 1.5).
ATTN_API Recipe load_recipe(const std::filesystem::path& file);
ATTN_API Recipe parse_recipe(std::string_view json, std::string_view where);

// As recipes write it.
ATTN_API std::string_view name_of(TaskKind task) noexcept;

}  // namespace attn::train
