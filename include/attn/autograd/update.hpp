// SPDX-License-Identifier: Apache-2.0
// The arithmetic of optimisers: parameters changed in place, outside the tape. f32 or f64 tensors, row-major, of one
// shape and dtype (gradients: any floating dtype); split over threads, the same bits with any number of them. Each
// throws Error naming the argument.
#pragma once

#include <attn/autograd/variable.hpp>
#include <attn/version.hpp>

namespace attn::autograd {
inline namespace ATTN_ABI {

// A step of Adam: with g the gradient (+ decay_grad * p), p *= shrink; m += (1 - beta1) (g - m);
// v = beta2 v + (1 - beta2) g^2; p -= step_size * m / (sqrt(v) / root + eps).
struct AdamStep {
  double beta1 = 0.9, beta2 = 0.999;
  double eps = 1e-8;
  double step_size = 1e-3;  // learning rate / (1 - beta1^t)
  double root = 1;          // sqrt(1 - beta2^t)
  double shrink = 1;        // 1 - learning rate * decay: AdamW
  double decay_grad = 0;    // decay: Adam
};

// A step of gradient descent: with g the gradient + decay * p, b = first ? g : momentum b + (1 - dampening) g;
// p -= rate * (nesterov ? g + momentum b : b). Without momentum p -= rate * g, and b is not used.
struct SgdStep {
  double rate = 1e-3;
  double momentum = 0, dampening = 0, decay = 0;
  bool nesterov = false;
  bool first = true;
};

}  // namespace ATTN_ABI

// The steps above. mean, mean_square, buffer: what the optimiser keeps of the gradients, zeros before the first step.
// Time O(elements), at the speed of memory.
ATTN_API void adam_update(Tensor& parameter, const Tensor& grad, Tensor& mean, Tensor& mean_square,
                          const AdamStep& step, Context& context = default_context());
ATTN_API void sgd_update(Tensor& parameter, const Tensor& grad, Tensor& buffer, const SgdStep& step,
                         Context& context = default_context());

// mean = keep * mean + (1 - keep) * value, f32 or f64: a running mean. Time O(elements), at the speed of memory.
ATTN_API void average_update(Tensor& mean, const Tensor& value, double keep, Context& context = default_context());

// t *= factor, any floating dtype.
ATTN_API void scale_in_place(Tensor& t, double factor, Context& context = default_context());
// The sum of squares of any floating tensor, f64 sums in a fixed order. NaN or infinite when an element is, or when a
// sum of f32 squares passes f64's range.
ATTN_API double sum_of_squares(const Tensor& t, Context& context = default_context());
// `from` as the dtype of `to`, which it is copied into; shapes agree.
ATTN_API void assign(Tensor& to, const Tensor& from, Context& context = default_context());

}  // namespace attn::autograd
