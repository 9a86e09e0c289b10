// SPDX-License-Identifier: Apache-2.0
#include <attn/autograd/elementwise.hpp>

#include "autograd/unary.hpp"

namespace attn::autograd {
namespace {

Tensor times(const Tensor& x, double factor, Context& context) {
  return with_type(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T f = static_cast<T>(factor);
    return transform<T>(x, context, [f](T value) { return f * value; });
  });
}

}  // namespace

Variable scale(const Variable& x, double factor, Context& context) {
  check_operand("scale", "x", x.value());
  return record("scale", {x}, times(x.value(), factor, context),
                [factor](const Tensor& dy, Context& c) { return std::vector{times(dy, factor, c)}; });
}

}  // namespace attn::autograd
