// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/nn/input.hpp>
#include <attn/nn/parameters.hpp>
#include <attn/nn/state_dict.hpp>

namespace attn::nn {

// Sinusoidal positions (Vaswani et al. 2017, 3.5), (tokens, dim), f32 or f64: row p holds at 2i sin(p / 10000^(2i /
// dim)) and at 2i + 1 the cosine of the same, for p = first ... first + tokens - 1. Computed in f64 and rounded once.
// Throws Error for a negative size or another dtype.
ATTN_API Tensor sinusoidal_positions(std::ptrdiff_t tokens, std::ptrdiff_t dim, DType dtype = DType::f32,
                                     std::ptrdiff_t first = 0);

// x + positions: x (..., tokens, dim), positions (at least `tokens`, dim) of which the first rows are added to every
// sequence. The result is f64 when x is f64, else f32. Throws Error for more tokens than positions.
ATTN_API Tensor add_positions(Input x, In<2> positions, Context& context = default_context());

inline namespace ATTN_ABI {

struct LearnedPositionsShape {
  std::ptrdiff_t max_tokens = 0;  // of the longest sequence
  std::ptrdiff_t dim = 0;
};

}  // namespace ATTN_ABI

// A learned vector for each position, added to the token there (Gehring et al. 2017; Devlin et al. 2019).
class ATTN_API LearnedPositions {
 public:
  LearnedPositions() = default;
  // Throws Error for a negative size.
  explicit LearnedPositions(const LearnedPositionsShape& shape);

  // "weight" (max_tokens, dim).
  void load(const StateDict& state, const std::string& prefix = {}, Context& context = default_context());
  void read(StateReader& reader);

  // As add_positions. Throws Error before load.
  Tensor operator()(Input x, Context& context = default_context()) const;

  // The same with gradients. Starts from unit-normal numbers. Throws Error before initialise or load_parameters.
  Variable operator()(const Variable& x, Context& context = default_context()) const;
  void visit(ParameterVisitor& visitor);

  const LearnedPositionsShape& shape() const { return shape_; }

 private:
  LearnedPositionsShape shape_;
  Tensor weight_;
  Variable weight_variable_;
};

}  // namespace attn::nn
