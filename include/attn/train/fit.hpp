// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/train/task.hpp>
#include <filesystem>
#include <functional>

namespace attn::train {
inline namespace ATTN_ABI {

// What a step came to.
struct StepReport {
  std::int64_t step = 0;  // from 1
  double loss = 0;
  double learning_rate = 0;
  double grad_norm = 0;  // of all gradients together, before they were clipped; 0 of a step that is skipped
  std::ptrdiff_t tokens = 0;
  double loss_scale = 1;  // that the loss was multiplied by before it was differentiated; 1 unless the precision is f16
  bool is_skipped =
      false;  // scaled gradients overflowed f16: no weight changed, and the next scale is half of this one
};

struct FitOptions {
  TrainingRecipe training = {};
  // Where metrics.jsonl, checkpoint.safetensors and best.safetensors go; it is made if it is not there.
  std::filesystem::path folder = {};
  // Goes on from the checkpoint in it, if there is one; otherwise a folder that holds one is refused.
  bool resume = false;
  std::function<void(const StepReport&)> on_step = {};
  std::function<void(std::int64_t step, const std::vector<Score>&)> on_scores = {};
};

struct FitReport {
  std::int64_t first_step = 1, last_step = 0;  // of this call; the first follows the checkpoint it went on from
  double seconds = 0;
  std::int64_t best_step = 0;
  std::vector<Score> best = {};  // on the validation part
  bool stopped_early = false;    // by patience
};

}  // namespace ATTN_ABI

// Trains: AdamW, gradients clipped by their norm, warm-up and cosine; in f16 with a loss scaled by nn::LossScaler.
// Every evaluate_every steps, and at the end, the validation part is judged, and weights that beat those before go to
// best.safetensors: with `average`, the running mean of the weights is judged and kept there. A checkpoint holds all
// that the steps after it depend on: with the same number of threads or another, a run that was stopped and resumed
// ends with the same bits as one that was not.
//
// Throws Error where the loss, or a gradient of a loss that was not scaled up, is not finite, naming the step, the
// parameter and the last good checkpoint; for a folder of another run; and what Task and AtomicFile throw: a full disk
// leaves the checkpoint before as it was.
ATTN_API FitReport fit(Task& task, const FitOptions& options, Context& context = default_context());

}  // namespace attn::train
