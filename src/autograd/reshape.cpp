// SPDX-License-Identifier: Apache-2.0
#include <attn/autograd/shape.hpp>
#include <attn/error.hpp>

#include "autograd/broadcast.hpp"
#include "base/concat.hpp"

namespace attn::autograd {

Variable reshape(const Variable& x, std::span<const std::ptrdiff_t> shape, Context& context) {
  check_operand("reshape", "x", x.value());
  if (product(shape) != x.value().size()) {
    throw Error("reshape", "shape",
                base::concat(base::shape_text(shape), " does not hold the elements of ", base::shape_text(x.shape())));
  }
  const Tensor y = dense(x.value(), x.dtype(), context).reshape(shape);
  return record("reshape", {x}, y, [like = shape_of(x.value()).shape](const Tensor& dy, Context& c) {
    return std::vector{dense(dy, dy.dtype(), c).reshape(like)};
  });
}

}  // namespace attn::autograd
