// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/error.hpp>
#include <attn/inspect/explain.hpp>
#include <span>

#include "base/concat.hpp"

namespace attn::inspect {
namespace {

using base::concat;
using base::shape_text;

constexpr std::string_view kExplain = "inspect::explain";

Tensor matrix(const Tensor& given, std::string_view name) {
  if (!given.has_value()) throw Error(kExplain, name, "missing, expected a matrix");
  if (given.rank() != 2) {
    throw Error(kExplain, name, concat("shape ", shape_text(given.shape()), ", expected a matrix"));
  }
  if (given.dtype() != DType::f32 && given.dtype() != DType::f64 && given.dtype() != DType::bf16 &&
      given.dtype() != DType::f16) {
    throw Error(kExplain, name, concat("dtype ", name_of(given.dtype()), ", expected f32, f64, bf16 or f16"));
  }
  return given.to(DType::f64);
}

// x w, each element summed in the order of w's rows.
Tensor product(const Tensor& x, const Tensor& w, std::string_view name) {
  const std::ptrdiff_t rows = x.extent(0), depth = x.extent(1), columns = w.extent(1);
  if (w.extent(0) != depth) {
    throw Error(kExplain, name, concat(w.extent(0), " rows, expected ", depth, " as x has columns"));
  }
  Tensor result = Tensor::empty(DType::f64, rows, columns);
  const View<const double, 2> a = x.view<double, 2>(), b = w.view<double, 2>();
  const View<double, 2> c = result.view<double, 2>();
  for (std::ptrdiff_t i = 0; i < rows; ++i) {
    for (std::ptrdiff_t j = 0; j < columns; ++j) {
      double sum = 0;
      for (std::ptrdiff_t k = 0; k < depth; ++k) sum += a(i, k) * b(k, j);
      c(i, j) = sum;
    }
  }
  return result;
}

class Explainer {
 public:
  Explainer(const AttentionOptions& options, Context& context) : options_(options), context_(context) {}

  std::vector<Step> explain(const Example& example) {
    read_operands(example);
    check_tokens(example.tokens.size());
    add_scores();
    Tensor weights = Tensor::empty(DType::f64, q_.extent(0), k_.extent(0));
    Tensor output = Tensor::empty(DType::f64, q_.extent(0), v_.extent(1));
    run({.out = rank_4(output), .weights = rank_4(weights)}, options_);
    add("weights", "softmax of each row", weights);
    add("output", "weights V", output);
    return std::move(steps_);
  }

 private:
  const AttentionOptions& options_;
  Context& context_;
  Tensor q_, k_, v_;
  std::vector<Step> steps_;

  void add(std::string_view name, std::string_view formula, const Tensor& value) {
    steps_.push_back({.name = std::string(name), .formula = std::string(formula), .value = value});
  }

  void read_operands(const Example& example) {
    const bool is_projected =
        example.x.has_value() || example.w_q.has_value() || example.w_k.has_value() || example.w_v.has_value();
    if (is_projected == (example.q.has_value() || example.k.has_value() || example.v.has_value())) {
      throw Error(kExplain, "example", "expected either x with w_q, w_k and w_v, or q, k and v");
    }
    if (is_projected) {
      const Tensor x = matrix(example.x, "x"), w_q = matrix(example.w_q, "w_q"), w_k = matrix(example.w_k, "w_k"),
                   w_v = matrix(example.w_v, "w_v");
      add("X", "given", x);
      add("W_Q", "given", w_q);
      add("W_K", "given", w_k);
      add("W_V", "given", w_v);
      q_ = product(x, w_q, "w_q");
      k_ = product(x, w_k, "w_k");
      v_ = product(x, w_v, "w_v");
    } else {
      q_ = matrix(example.q, "q");
      k_ = matrix(example.k, "k");
      v_ = matrix(example.v, "v");
    }
    add("Q", is_projected ? "X W_Q" : "given", q_);
    add("K", is_projected ? "X W_K" : "given", k_);
    add("V", is_projected ? "X W_V" : "given", v_);
  }

  // They name queries or keys.
  void check_tokens(std::size_t found) const {
    const auto count = static_cast<std::ptrdiff_t>(found);
    if (count == 0 || count == q_.extent(0) || count == k_.extent(0)) return;
    throw Error(kExplain, "tokens", concat(count, ", expected ", q_.extent(0), " as there are queries"));
  }

  // The steps between Q, K and the softmax. What a step leaves as it was is not shown.
  void add_scores() {
    AttentionOptions unscaled;
    unscaled.scale = 1.0;
    add("scores", "Q K^T", scores(ScoreStage::scaled, unscaled));
    const std::string scale = options_.scale ? concat("scores * ", *options_.scale) : "scores / sqrt(d_k)";
    add("scaled", scale, scores(ScoreStage::scaled, options_));
    if (options_.softcap) {
      const std::string formula = concat(*options_.softcap, " tanh(scaled / ", *options_.softcap, ')');
      add("capped", formula, scores(ScoreStage::capped, options_));
    }
    if (options_.bias.wanted() || options_.alibi.wanted()) {
      AttentionOptions unmasked = options_;
      unmasked.mask = {};
      add("biased", steps_.back().name + " + bias", scores(ScoreStage::masked, unmasked));
    }
    const Tensor masked = scores(ScoreStage::masked, options_);
    if (!same(masked, steps_.back().value)) add("masked", "-inf where the key is hidden", masked);
  }

  static bool same(const Tensor& a, const Tensor& b) {
    const std::span<const double> x = a.values<double>(), y = b.values<double>();
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  }

  Tensor scores(ScoreStage stage, const AttentionOptions& options) {
    Tensor result = Tensor::empty(DType::f64, q_.extent(0), k_.extent(0));
    run({.scores = rank_4(result), .score_stage = stage}, options);
    return result;
  }

  static View<double, 4> rank_4(Tensor& t) { return t.view<double, 2>().unsqueeze(0).unsqueeze(0); }
  static View<const double, 4> rank_4(const Tensor& t) { return t.view<double, 2>().unsqueeze(0).unsqueeze(0); }

  void run(const AttentionOutputs& outputs, const AttentionOptions& options) {
    const Tensor &q = q_, &k = k_, &v = v_;
    attention(rank_4(q), rank_4(k), rank_4(v), outputs, options, context_);
  }
};

}  // namespace

Explanation explain(const Example& example, const AttentionOptions& options, Context& context) {
  if (options.dropout.p != 0) throw Error(kExplain, "dropout", "expected none: its steps could not be checked by hand");
  if (!options.packing.cu_q.empty()) throw Error(kExplain, "packing", "expected none: an example is one sequence");
  return {.steps = Explainer(options, context).explain(example), .tokens = example.tokens, .note = example.note};
}

}  // namespace attn::inspect
