// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "autograd/dense.hpp"

namespace attn::autograd {

// f of each element, in x's dtype.
template <class T, class F>
Tensor transform(const Tensor& x, Context& context, const F& f) {
  const Dense<T> from(x, context);
  Fresh<T> result(x.shape(), context);
  T* to = result.data();
  for_each_piece(x.size(), kTaskElements, context, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    const T* values = from.data();
    for (std::ptrdiff_t i = begin; i < end; ++i) to[i] = f(values[i]);
  });
  return result.finish(x.dtype());
}

}  // namespace attn::autograd
