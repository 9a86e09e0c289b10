// SPDX-License-Identifier: Apache-2.0
#include <attn/autograd/elementwise.hpp>
#include <attn/error.hpp>

#include "autograd/dense.hpp"
#include "base/concat.hpp"

namespace attn::autograd {

Variable to(const Variable& x, DType dtype, Context& context) {
  check_operand("to", "x", x.value());
  if (!is_floating(dtype)) {
    throw Error("to", "dtype", base::concat(name_of(dtype), ", expected f32, f64, bf16 or f16"));
  }
  if (dtype == x.dtype()) return x;
  return record("to", {x}, dense(x.value(), dtype, context),
                [from = x.dtype()](const Tensor& dy, Context& c) { return std::vector{dense(dy, from, c)}; });
}

}  // namespace attn::autograd
