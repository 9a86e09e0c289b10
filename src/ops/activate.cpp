// SPDX-License-Identifier: Apache-2.0
#include <attn/activate.hpp>

#include "kernels/epilogue.hpp"
#include "ops/row_blocks.hpp"
#include "ops/view_check.hpp"

namespace attn {
namespace {

template <class T>
void run(const In<2>& x, const Out<2>& y, Activation activation, Context& context) {
  const std::int64_t target = runtime::ContextAccess::isa(context).target;
  ops::for_each_row<T>(x, y, context, [&](const T* from, T* to) {
    kernels::apply_epilogue(
        kernels::Epilogue<T>{from, 0, to, 0, nullptr, nullptr, nullptr, 0, 1, x.extent(1), activation}, target);
  });
}

}  // namespace

void activate(In<2> x, Out<2> y, Activation activation, Context& context) {
  ops::check_floating("activate", "x", x);
  ops::check_floating("activate", "y", y);
  ops::check_extents("activate", "y", y, x.extents(), "as in x");
  if (x.dtype() == DType::f64) {
    run<double>(x, y, activation, context);
  } else {
    run<float>(x, y, activation, context);
  }
}

}  // namespace attn
