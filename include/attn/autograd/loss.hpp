// SPDX-License-Identifier: Apache-2.0
// Losses: what training makes small. Each is one number, shape (), f64 for f64 operands and else f32.
#pragma once

#include <attn/any_view.hpp>
#include <attn/autograd/variable.hpp>
#include <attn/version.hpp>
#include <cstdint>

namespace attn::autograd {
inline namespace ATTN_ABI {

// The arguments of PyTorch's cross_entropy, under its names.
struct CrossEntropyOptions {
  std::int64_t ignore_index = -100;  // a target that counts for nothing
  double label_smoothing = 0;        // share of the target spread over all classes, 0 to 1 (Szegedy et al. 2016)
  Tensor weight = {};                // (classes), factors of the classes' losses; the mean divides by their sum
};

}  // namespace ATTN_ABI

// Mean over the targets that count of -log softmax(logits)[target] (with mean reduction, as PyTorch's). logits
// (..., classes), targets (...) i32 or i64. When no target counts, it is 0 with a gradient of zeros, where PyTorch has
// NaN. Keeps the logits and one number a row. Throws Error naming a target that is no class.
ATTN_API Variable cross_entropy(const Variable& logits, const Tensor& targets, const CrossEntropyOptions& options = {},
                                Context& context = default_context());

// Mean of (x - target)^2 over all elements; target of x's shape, with a gradient if it needs one.
ATTN_API Variable mse_loss(const Variable& x, const Variable& target, Context& context = default_context());

// KL divergence of the distributions q = exp(log_q) from p: the sum of p (log p - log_q) over the last dimension, and
// the mean of that over the others (PyTorch's kl_div with reduction batchmean, whose batch is all leading dimensions).
// 0 log 0 is 0. p is a constant of log_q's shape.
ATTN_API Variable kl_div(const Variable& log_q, const Tensor& p, Context& context = default_context());

}  // namespace attn::autograd
