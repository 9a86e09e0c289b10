// SPDX-License-Identifier: Apache-2.0
#include "autograd/broadcast.hpp"

#include <algorithm>

#include "base/concat.hpp"

namespace attn::autograd {

void check_broadcast(std::string_view where, const Tensor& a, const Tensor& b) {
  check_operand(where, "a", a);
  check_operand(where, "b", b);
  if (b.rank() > a.rank() || !std::equal(b.shape().rbegin(), b.shape().rend(), a.shape().rbegin())) {
    throw Error(where, "b",
                base::concat("shape ", base::shape_text(b.shape()), ", expected ", base::shape_text(a.shape()),
                             " or the end of it"));
  }
}

Tensor sum_to(const Tensor& t, const ShapeAndDtype& like, double factor, Context& context) {
  const std::ptrdiff_t columns = product(like.shape), rows = columns == 0 ? 0 : t.size() / columns;
  if (rows == 1 && factor == 1 && t.dtype() == like.dtype && t.rank() == static_cast<int>(like.shape.size())) return t;
  return with_type(t.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Dense<T> from(t, context);
    Fresh<T> sum(like.shape, context);
    column_sums(from.data(), rows, columns, sum.data(), context);
    if (factor != 1) {
      for (std::ptrdiff_t c = 0; c < columns; ++c) sum.data()[c] *= static_cast<T>(factor);
    }
    return sum.finish(like.dtype);
  });
}

}  // namespace attn::autograd
