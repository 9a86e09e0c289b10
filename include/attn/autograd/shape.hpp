// SPDX-License-Identifier: Apache-2.0
// The same numbers in another order. What can be a view is one, and costs nothing.
#pragma once

#include <attn/autograd/variable.hpp>
#include <initializer_list>

namespace attn::autograd {

// The same elements in row-major order under another shape. Throws Error for another number of elements.
ATTN_API Variable reshape(const Variable& x, std::span<const std::ptrdiff_t> shape,
                          Context& context = default_context());
inline Variable reshape(const Variable& x, std::initializer_list<std::ptrdiff_t> shape,
                        Context& context = default_context()) {
  return reshape(x, std::span<const std::ptrdiff_t>(shape.begin(), shape.size()), context);
}

// Dimension d of the result is dimension order[d] of x: permute(x, {0, 2, 1, 3}) brings (batch, tokens, heads, dim) to
// (batch, heads, tokens, dim). A view. Throws Error unless `order` names each dimension once.
ATTN_API Variable permute(const Variable& x, std::initializer_list<int> order);

// Elements begin ... end - 1 of dimension d; negative d counts from the end. A view. Throws Error for a range outside.
ATTN_API Variable slice(const Variable& x, int d, std::ptrdiff_t begin, std::ptrdiff_t end);

// One after the other along dimension d. Throws Error unless all other extents and the dtypes agree.
ATTN_API Variable concat(const std::vector<Variable>& parts, int d, Context& context = default_context());

// (batch, tokens, heads * dim) as (batch, heads, tokens, dim): what attention takes. A view of a row-major x.
ATTN_API Variable split_heads(const Variable& x, std::ptrdiff_t heads, Context& context = default_context());
// The way back. A view of what attention() gives.
ATTN_API Variable join_heads(const Variable& x, Context& context = default_context());

}  // namespace attn::autograd
