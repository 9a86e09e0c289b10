// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/autograd/loss.hpp>
#include <attn/error.hpp>
#include <cmath>

#include "autograd/broadcast.hpp"
#include "autograd/ids.hpp"
#include "autograd/sums.hpp"
#include "base/concat.hpp"
#include "base/convert.hpp"
#include "kernels/softmax.hpp"

namespace attn::autograd {
namespace {

constexpr std::string_view kCrossEntropy = "cross_entropy";

// With w the classes' weights, e the smoothing, C the number of classes, p = softmax(x):
// loss = (1 - e) w[t] (-log p[t]) + e / C sum over c of w[c] (-log p[c]), divided by the sum of w[t] over the rows.
struct Saved {
  Tensor logits = {};  // as they are computed in
  std::vector<std::int64_t> targets = {};
  std::vector<double> lse = {};
  std::vector<double> weights = {};  // one a class; empty: 1
  double weight_sum = 0;             // over all classes
  double normaliser = 0;             // over the targets that count
  double smoothing = 0;
  std::int64_t ignored = 0;
  ShapeAndDtype like = {};

  double weight(std::ptrdiff_t c) const { return weights.empty() ? 1 : weights[static_cast<std::size_t>(c)]; }
};

template <class T>
double loss_of(Saved& saved, Context& context) {
  const std::int64_t target = runtime::ContextAccess::isa(context).target;
  const auto [rows, columns] = rows_of(saved.logits);
  const std::ptrdiff_t classes = columns;
  const T* logits = static_cast<const T*>(saved.logits.data());
  std::vector<double> losses(saved.targets.size(), 0.0);
  for_each_piece(rows, rows_of_task(columns), context, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t r = begin; r < end; ++r) {
      const std::size_t n = static_cast<std::size_t>(r);
      if (saved.targets[n] == saved.ignored) continue;
      const T* x = logits + r * classes;
      const double lse = static_cast<double>(kernels::log_sum_exp(x, classes, target));
      const double right = saved.weight(saved.targets[n]) * (lse - static_cast<double>(x[saved.targets[n]]));
      double all = 0;
      for (std::ptrdiff_t c = 0; saved.smoothing > 0 && c < classes; ++c) {
        all += saved.weight(c) * (lse - static_cast<double>(x[c]));
      }
      saved.lse[n] = lse;
      losses[n] = (1 - saved.smoothing) * right + saved.smoothing / static_cast<double>(classes) * all;
    }
  });
  double sum = 0;
  for (const double loss : losses) sum += loss;
  return saved.normaliser > 0 ? sum / saved.normaliser : 0;
}

// dx[c] = g ((1 - e) w[t] (p[c] - [c = t]) + e / C (p[c] W - w[c])), W the sum of all weights, g = dy / normaliser.
template <class T>
Tensor backward(const Saved& saved, double dy, Context& context) {
  const std::int64_t target = runtime::ContextAccess::isa(context).target;
  const auto [rows, columns] = rows_of(saved.logits);
  const std::ptrdiff_t classes = columns;
  const T* logits = static_cast<const T*>(saved.logits.data());
  Fresh<T> dx(saved.logits.shape(), context);
  T* to = dx.data();
  const double g = saved.normaliser > 0 ? dy / saved.normaliser : 0;
  const double share = saved.smoothing / static_cast<double>(classes);
  for_each_piece(rows, rows_of_task(columns), context, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t r = begin; r < end; ++r) {
      const std::size_t n = static_cast<std::size_t>(r);
      T* row = to + r * classes;
      if (saved.targets[n] == saved.ignored) {
        std::fill(row, row + classes, T{0});
        continue;
      }
      const double right = (1 - saved.smoothing) * saved.weight(saved.targets[n]);
      const T factor = static_cast<T>(g * (right + share * saved.weight_sum));
      kernels::exp_below(logits + r * classes, static_cast<T>(saved.lse[n]), classes, row, target);
      for (std::ptrdiff_t c = 0; c < classes; ++c) row[c] *= factor;
      for (std::ptrdiff_t c = 0; share > 0 && c < classes; ++c) row[c] -= static_cast<T>(g * share * saved.weight(c));
      row[saved.targets[n]] -= static_cast<T>(g * right);
    }
  });
  return dx.finish(saved.like.dtype);
}

void check(const Variable& logits, const Tensor& targets, const CrossEntropyOptions& options) {
  check_operand(kCrossEntropy, "logits", logits.value());
  const std::span<const std::ptrdiff_t> shape = logits.shape();
  if (shape.empty() || shape.back() == 0 ||
      !std::equal(targets.shape().begin(), targets.shape().end(), shape.begin(), shape.end() - 1)) {
    throw Error(kCrossEntropy, "targets",
                base::concat("shape ", base::shape_text(targets.shape()), ", expected that of the logits, ",
                             base::shape_text(shape), ", without the classes"));
  }
  if (!(options.label_smoothing >= 0 && options.label_smoothing <= 1)) {
    throw Error(kCrossEntropy, "label_smoothing", base::concat(options.label_smoothing, ", expected 0 to 1"));
  }
  if (!options.weight.has_value()) return;
  check_operand(kCrossEntropy, "weight", options.weight);
  if (options.weight.rank() != 1 || options.weight.extent(0) != shape.back()) {
    throw Error(kCrossEntropy, "weight",
                base::concat("shape ", base::shape_text(options.weight.shape()), ", expected (", shape.back(), ")"));
  }
}

}  // namespace

Variable cross_entropy(const Variable& logits, const Tensor& targets, const CrossEntropyOptions& options,
                       Context& context) {
  check(logits, targets, options);
  const std::ptrdiff_t classes = logits.extent(-1);
  Saved saved{.logits = dense(logits.value(), computed_in(logits.dtype()), context),
              .targets = checked_ids(kCrossEntropy, "targets", targets, classes, options.ignore_index),
              .smoothing = options.label_smoothing,
              .ignored = options.ignore_index,
              .like = shape_of(logits.value())};
  saved.lse.resize(saved.targets.size());
  if (options.weight.has_value()) {
    const Tensor wide = options.weight.to(DType::f64);
    saved.weights.assign(wide.values<double>().begin(), wide.values<double>().end());
  }
  for (std::ptrdiff_t c = 0; c < classes; ++c) saved.weight_sum += saved.weight(c);
  for (const std::int64_t t : saved.targets) {
    if (t != saved.ignored) saved.normaliser += saved.weight(t);
  }
  Tensor loss = Tensor::empty(saved.logits.dtype(), std::span<const std::ptrdiff_t>(), context.memory());
  const double value = with_type(logits.dtype(), [&](auto zero) { return loss_of<decltype(zero)>(saved, context); });
  base::store_as(loss.dtype(), loss.data(), 0, value);
  return record(kCrossEntropy, {logits}, loss, [saved = std::move(saved)](const Tensor& dy, Context& c) {
    const double g = base::load_as<double>(dy.dtype(), dy.data(), 0);
    return std::vector{with_type(saved.like.dtype, [&](auto zero) { return backward<decltype(zero)>(saved, g, c); })};
  });
}

}  // namespace attn::autograd
