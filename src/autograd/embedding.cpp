// SPDX-License-Identifier: Apache-2.0
#include <attn/autograd/embedding.hpp>
#include <attn/error.hpp>
#include <cstring>

#include "autograd/broadcast.hpp"
#include "autograd/ids.hpp"
#include "base/concat.hpp"

namespace attn::autograd {
namespace {

// Each strip of features is one task, and takes the ids in order.
template <class T>
Tensor table_grad(const std::vector<std::int64_t>& ids, const Tensor& grad, const ShapeAndDtype& like,
                  Context& context) {
  constexpr std::ptrdiff_t kStrip = 64;
  const std::ptrdiff_t features = like.shape[1];
  const Dense<T> dy(grad, context);
  Tensor table = filled(dtype_of<T>, like.shape, 0, context);
  T* to = static_cast<T*>(table.data());
  for_each_piece(features, kStrip, context, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::size_t n = 0; n < ids.size(); ++n) {
      const T* from = dy.data() + static_cast<std::ptrdiff_t>(n) * features;
      T* row = to + ids[n] * features;
      for (std::ptrdiff_t c = begin; c < end; ++c) row[c] += from[c];
    }
  });
  return dense(table, like.dtype, context);
}

}  // namespace

Variable embedding(const Tensor& ids, const Variable& table, Context& context) {
  check_operand("embedding", "table", table.value());
  if (table.value().rank() != 2) {
    throw Error("embedding", "table",
                base::concat("shape ", base::shape_text(table.shape()), ", expected (rows, features)"));
  }
  const std::vector<std::int64_t> list = checked_ids("embedding", "ids", ids, table.extent(0));
  const Tensor rows = dense(table.value(), table.dtype(), context);
  std::vector<std::ptrdiff_t> shape(ids.shape().begin(), ids.shape().end());
  shape.push_back(table.extent(1));
  Tensor y = Tensor::empty(table.dtype(), shape, context.memory());
  const std::size_t bytes = static_cast<std::size_t>(table.extent(1)) * size_of(table.dtype());
  std::byte* to = static_cast<std::byte*>(y.data());
  for (std::size_t n = 0; n < list.size() && bytes != 0; ++n) {
    std::memcpy(to + n * bytes, static_cast<const std::byte*>(rows.data()) + static_cast<std::size_t>(list[n]) * bytes,
                bytes);
  }
  return record("embedding", {table}, y, [list, like = shape_of(table.value())](const Tensor& dy, Context& c) {
    return std::vector{with_type(like.dtype, [&](auto zero) { return table_grad<decltype(zero)>(list, dy, like, c); })};
  });
}

}  // namespace attn::autograd
