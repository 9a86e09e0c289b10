// SPDX-License-Identifier: Apache-2.0
#include <attn/autograd/elementwise.hpp>

#include "autograd/broadcast.hpp"

namespace attn::autograd {
namespace {

Variable add_scaled(std::string_view name, const Variable& a, const Variable& b, double sign, Context& context) {
  check_broadcast(name, a.value(), b.value());
  Tensor y = with_type(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T factor = static_cast<T>(sign);
    return combine<T>(a.value(), b.value(), context, [factor](T x, T z) { return x + factor * z; });
  });
  const bool b_needs = b.needs_grad();
  return record(name, {a, b}, y, [sign, b_needs, like = shape_of(b.value())](const Tensor& dy, Context& c) {
    return std::vector{dy, b_needs ? sum_to(dy, like, sign, c) : Tensor()};
  });
}

}  // namespace

Variable add(const Variable& a, const Variable& b, Context& context) { return add_scaled("add", a, b, 1, context); }
Variable subtract(const Variable& a, const Variable& b, Context& context) {
  return add_scaled("subtract", a, b, -1, context);
}

}  // namespace attn::autograd
