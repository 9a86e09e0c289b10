// SPDX-License-Identifier: Apache-2.0
#include <attn/activate.hpp>
#include <attn/autograd/elementwise.hpp>

#include "autograd/dense.hpp"
#include "kernels/activation_backward.hpp"
#include "kernels/epilogue.hpp"

namespace attn::autograd {
namespace {

template <class T>
Tensor forward(const Tensor& x, Activation activation, Context& context) {
  const std::int64_t target = runtime::ContextAccess::isa(context).target;
  const Dense<T> from(x, context);
  Fresh<T> y(x.shape(), context);
  T* to = y.data();
  for_each_piece(x.size(), kTaskElements, context, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    kernels::apply_epilogue(kernels::Epilogue<T>{from.data() + begin, 0, to + begin, 0, nullptr, nullptr, nullptr, 0, 1,
                                                 end - begin, activation},
                            target);
  });
  return y.finish(x.dtype());
}

template <class T>
Tensor backward(const Tensor& x, const Tensor& dy, Activation activation, Context& context) {
  const std::int64_t target = runtime::ContextAccess::isa(context).target;
  const Dense<T> at(x, context), from(dy, context);
  Fresh<T> dx(x.shape(), context);
  T* to = dx.data();
  for_each_piece(x.size(), kTaskElements, context, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    kernels::activation_backward(
        kernels::ActivationBackward<T>{at.data() + begin, from.data() + begin, to + begin, end - begin, activation},
        target);
  });
  return dx.finish(x.dtype());
}

}  // namespace

Variable activate(const Variable& x, Activation activation, Context& context) {
  check_operand("activate", "x", x.value());
  if (activation == Activation::none) return x;
  const Tensor y =
      with_type(x.dtype(), [&](auto zero) { return forward<decltype(zero)>(x.value(), activation, context); });
  return record("activate", {x}, y, [x = x.value(), activation](const Tensor& dy, Context& c) {
    return std::vector{with_type(x.dtype(), [&](auto zero) { return backward<decltype(zero)>(x, dy, activation, c); })};
  });
}

}  // namespace attn::autograd
