// SPDX-License-Identifier: Apache-2.0
#include <attn/autograd/shape.hpp>
#include <attn/error.hpp>

#include "autograd/broadcast.hpp"
#include "autograd/shape_views.hpp"
#include "base/concat.hpp"

namespace attn::autograd {

Variable slice(const Variable& x, int d, std::ptrdiff_t begin, std::ptrdiff_t end) {
  const int at = d < 0 ? d + x.value().rank() : d;
  const std::ptrdiff_t extent = x.extent(d);
  if (begin < 0 || begin > end || end > extent) {
    throw Error("slice", "begin", base::concat(begin, " to ", end, ", expected a range of 0 to ", extent));
  }
  return record("slice", {x}, sliced(x.value(), at, begin, end),
                [at, begin, end, like = shape_of(x.value())](const Tensor& dy, Context& c) {
                  const Tensor dx = filled(like.dtype, like.shape, 0, c);
                  copy_into(dy, sliced(dx, at, begin, end));
                  return std::vector{dx};
                });
}

}  // namespace attn::autograd
