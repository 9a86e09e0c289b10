// SPDX-License-Identifier: Apache-2.0
#include <attn/autograd/elementwise.hpp>

#include "autograd/broadcast.hpp"

namespace attn::autograd {
namespace {

Tensor product_of(const Tensor& a, const Tensor& b, Context& context) {
  return with_type(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    return combine<T>(a, b, context, [](T x, T y) { return x * y; });
  });
}

}  // namespace

Variable multiply(const Variable& a, const Variable& b, Context& context) {
  check_broadcast("multiply", a.value(), b.value());
  const bool a_needs = a.needs_grad(), b_needs = b.needs_grad();
  const Tensor x = b_needs ? a.value() : Tensor(), z = a_needs ? b.value() : Tensor();
  return record("multiply", {a, b}, product_of(a.value(), b.value(), context),
                [x, z, like = shape_of(b.value())](const Tensor& dy, Context& c) {
                  return std::vector{z.has_value() ? product_of(dy, z, c) : Tensor(),
                                     x.has_value() ? sum_to(product_of(dy, x, c), like, 1, c) : Tensor()};
                });
}

}  // namespace attn::autograd
