// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/autograd/shape.hpp>
#include <attn/error.hpp>

#include "autograd/shape_views.hpp"
#include "base/concat.hpp"

namespace attn::autograd {
namespace {

Variable permute(const Variable& x, std::vector<int> order) {
  std::vector<int> inverse(order.size(), -1);
  const int rank = x.value().rank();
  for (std::size_t d = 0; d < order.size(); ++d) {
    if (order[d] >= 0 && order[d] < rank) inverse[static_cast<std::size_t>(order[d])] = static_cast<int>(d);
  }
  if (static_cast<int>(order.size()) != rank || std::find(inverse.begin(), inverse.end(), -1) != inverse.end()) {
    throw Error(
        "permute", "order",
        base::concat(base::shape_text(order), ", expected each dimension of ", base::shape_text(x.shape()), " once"));
  }
  return record("permute", {x}, permuted(x.value(), order),
                [inverse](const Tensor& dy, Context&) { return std::vector{permuted(dy, inverse)}; });
}

}  // namespace

Variable permute(const Variable& x, std::initializer_list<int> order) { return permute(x, std::vector<int>(order)); }

Variable split_heads(const Variable& x, std::ptrdiff_t heads, Context& context) {
  if (x.value().rank() != 3 || heads < 1 || x.extent(2) % heads != 0) {
    throw Error(
        "split_heads", "x",
        base::concat("shape ", base::shape_text(x.shape()), ", expected (batch, tokens, a multiple of ", heads, ")"));
  }
  return permute(reshape(x, {x.extent(0), x.extent(1), heads, x.extent(2) / heads}, context), {0, 2, 1, 3});
}

Variable join_heads(const Variable& x, Context& context) {
  if (x.value().rank() != 4) {
    throw Error("join_heads", "x",
                base::concat("shape ", base::shape_text(x.shape()), ", expected (batch, heads, tokens, dim)"));
  }
  return reshape(permute(x, {0, 2, 1, 3}), {x.extent(0), x.extent(2), x.extent(1) * x.extent(3)}, context);
}

}  // namespace attn::autograd
