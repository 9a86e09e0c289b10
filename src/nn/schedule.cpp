// SPDX-License-Identifier: Apache-2.0
#include <attn/error.hpp>
#include <attn/nn/schedule.hpp>
#include <cmath>
#include <numbers>

#include "base/concat.hpp"

namespace attn::nn {

double warmup_cosine(std::int64_t step, std::int64_t warmup, std::int64_t total, double last) {
  if (warmup < 0 || warmup > total) {
    throw Error("warmup_cosine", "warmup", base::concat(warmup, ", expected 0 to the total of ", total));
  }
  if (step < warmup) return static_cast<double>(step) / static_cast<double>(warmup);
  if (step >= total) return last;
  const double done = static_cast<double>(step - warmup) / static_cast<double>(total - warmup);
  return last + (1 - last) * 0.5 * (1 + std::cos(std::numbers::pi * done));
}

double inverse_sqrt(std::int64_t step, std::int64_t warmup) {
  if (warmup < 1) throw Error("inverse_sqrt", "warmup", base::concat(warmup, ", expected 1 or more"));
  if (step < warmup) return static_cast<double>(step) / static_cast<double>(warmup);
  return std::sqrt(static_cast<double>(warmup) / static_cast<double>(step));
}

}  // namespace attn::nn
