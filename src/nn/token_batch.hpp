// SPDX-License-Identifier: Apache-2.0
// Tokens of a batch in either layout, as the (batch, heads, tokens, dim) that attention reads by strides.
#pragma once

#include <attn/any_view.hpp>
#include <attn/nn/multi_head_attention.hpp>
#include <string_view>

namespace attn::nn {

// An operand (batch, tokens, features) of a layer; without batch it counts as a batch of one.
struct TokenBatch {
  In<3> tokens;
  bool is_batched = true;

  std::ptrdiff_t batch() const { return tokens.extent(0); }
  std::ptrdiff_t count() const { return tokens.extent(1); }
};

// Throws Error naming `where` and `argument` unless x holds numbers, has rank 2 or 3, and `features` features.
TokenBatch token_batch(std::string_view where, std::string_view argument, const Input& x, Layout layout,
                       std::ptrdiff_t features);

// A contiguous tensor (batch, tokens, heads * dim) in `layout`, or (tokens, heads * dim), by heads.
In<4> heads_of(const Tensor& t, Layout layout, std::ptrdiff_t heads);
// The same of its features first ... first + heads * dim - 1 alone.
In<4> heads_of(const Tensor& t, Layout layout, std::ptrdiff_t heads, std::ptrdiff_t first, std::ptrdiff_t dim);
Out<4> heads_of(Tensor& t, Layout layout, std::ptrdiff_t heads);

}  // namespace attn::nn
