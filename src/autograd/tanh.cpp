// SPDX-License-Identifier: Apache-2.0
#include <attn/autograd/elementwise.hpp>
#include <cmath>

#include "autograd/broadcast.hpp"
#include "autograd/unary.hpp"

namespace attn::autograd {

Variable tanh(const Variable& x, Context& context) {
  check_operand("tanh", "x", x.value());
  const Tensor y = with_type(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return transform<T>(x.value(), context, [](T value) { return std::tanh(value); });
  });
  return record("tanh", {x}, y, [y](const Tensor& dy, Context& c) {
    return std::vector{with_type(dy.dtype(), [&](auto zero) {
      using T = decltype(zero);
      return combine<T>(dy, y, c, [](T slope, T value) { return slope * (1 - value * value); });
    })};
  });
}

}  // namespace attn::autograd
