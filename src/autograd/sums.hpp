// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "autograd/dense.hpp"

namespace attn::autograd {

// The sum of f(0) ... f(count - 1) in double: of each piece, then of the pieces in order, whatever the threads.
template <class F>
double sum_in_pieces(std::ptrdiff_t count, Context& context, const F& f) {
  std::vector<double> parts(static_cast<std::size_t>((count + kTaskElements - 1) / kTaskElements));
  for_each_piece(count, kTaskElements, context, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    double part = 0;
    for (std::ptrdiff_t i = begin; i < end; ++i) part += f(i);
    parts[static_cast<std::size_t>(begin / kTaskElements)] = part;
  });
  double total = 0;
  for (const double part : parts) total += part;
  return total;
}

}  // namespace attn::autograd
