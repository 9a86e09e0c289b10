// SPDX-License-Identifier: Apache-2.0
#include "kernels/dropout.hpp"

#include <attn/autograd/elementwise.hpp>
#include <attn/error.hpp>

#include "autograd/dense.hpp"
#include "base/concat.hpp"

namespace attn::autograd {
namespace {

template <class T>
Tensor dropped(const Tensor& x, const kernels::DropoutRule& rule, Context& context) {
  const std::int64_t target = runtime::ContextAccess::isa(context).target;
  const Dense<T> from(x, context);
  Fresh<T> y(x.shape(), context);
  T* to = y.data();
  for_each_piece(x.size(), kTaskElements, context, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    kernels::dropout(from.data(), to, begin, end - begin, rule, target);
  });
  return y.finish(x.dtype());
}

Tensor dropped(const Tensor& x, const kernels::DropoutRule& rule, Context& context) {
  return with_type(x.dtype(), [&](auto zero) { return dropped<decltype(zero)>(x, rule, context); });
}

}  // namespace

Variable dropout(const Variable& x, const Dropout& dropout, Context& context) {
  check_operand("dropout", "x", x.value());
  if (!(dropout.p >= 0 && dropout.p <= 1)) {
    throw Error("dropout", "p", base::concat(dropout.p, ", expected 0 to 1"));
  }
  if (dropout.p == 0) return x;
  const kernels::DropoutRule rule(dropout.p, dropout.seed, dropout.offset);
  // The same elements drop out of the gradient; drawing them again costs less than keeping them.
  return record("dropout", {x}, dropped(x.value(), rule, context),
                [rule](const Tensor& dy, Context& c) { return std::vector{dropped(dy, rule, c)}; });
}

}  // namespace attn::autograd
