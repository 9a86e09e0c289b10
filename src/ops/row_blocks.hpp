// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "ops/row_access.hpp"
#include "runtime/context_access.hpp"

namespace attn::ops {

// Runs kernel(x, y), of `x.extent(1)` numbers of type T each, for every row of x and of y; rows are split over threads.
template <class T, class Kernel>
void for_each_row(const In<2>& x, const Out<2>& y, Context& context, const Kernel& kernel) {
  constexpr std::ptrdiff_t kBlockRows = 16;
  const RowReader<T> reader(x);
  const RowWriter<T> writer(y);
  const std::ptrdiff_t rows = x.extent(0), columns = x.extent(1);
  const std::size_t count = static_cast<std::size_t>(columns);
  const auto block = [&](std::ptrdiff_t task) {
    runtime::Scratch scratch(runtime::ContextAccess::scratch(context), 2 * runtime::Scratch::padded<T>(count));
    T* x_buffer = scratch.take<T>(count);
    T* y_buffer = scratch.take<T>(count);
    for (std::ptrdiff_t r = task * kBlockRows; r < std::min(rows, (task + 1) * kBlockRows); ++r) {
      kernel(reader.read(r, 0, columns, x_buffer), writer.begin(r, 0, y_buffer));
      writer.end(r, 0, columns, y_buffer);
    }
  };
  runtime::ContextAccess::executor(context).run((rows + kBlockRows - 1) / kBlockRows, block);
}

}  // namespace attn::ops
