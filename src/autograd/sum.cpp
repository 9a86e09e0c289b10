// SPDX-License-Identifier: Apache-2.0
#include <attn/autograd/reduce.hpp>
#include <attn/error.hpp>
#include <vector>

#include "autograd/broadcast.hpp"
#include "autograd/sums.hpp"
#include "base/concat.hpp"
#include "base/convert.hpp"

namespace attn::autograd {
namespace {

Variable scaled_sum(std::string_view name, const Variable& x, double factor, Context& context) {
  check_operand(name, "x", x.value());
  Tensor y = Tensor::empty(x.dtype(), std::span<const std::ptrdiff_t>(), context.memory());
  const double total = with_type(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Dense<T> from(x.value(), context);
    return sum_in_pieces(x.value().size(), context,
                         [&](std::ptrdiff_t i) { return static_cast<double>(from.data()[i]); });
  });
  base::store_as(x.dtype(), y.data(), 0, factor * total);
  return record(name, {x}, y, [factor, like = shape_of(x.value())](const Tensor& dy, Context& c) {
    return std::vector{filled(like.dtype, like.shape, factor * base::load_as<double>(dy.dtype(), dy.data(), 0), c)};
  });
}

}  // namespace

Variable sum(const Variable& x, Context& context) { return scaled_sum("sum", x, 1, context); }

Variable mean(const Variable& x, Context& context) {
  if (x.value().size() == 0) throw Error("mean", "x", "holds no element");
  return scaled_sum("mean", x, 1 / static_cast<double>(x.value().size()), context);
}

Variable mean_over(const Variable& x, int d, Context& context) {
  check_operand("mean_over", "x", x.value());
  const std::ptrdiff_t extent = x.extent(d);
  if (extent == 0) throw Error("mean_over", "x", base::concat("no element in dimension ", d));
  const std::size_t at = static_cast<std::size_t>(d < 0 ? d + x.value().rank() : d);
  const std::span<const std::ptrdiff_t> shape = x.shape();
  std::vector<std::ptrdiff_t> rest(shape.begin(), shape.end());
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at));
  const std::ptrdiff_t outer = product(shape.first(at)), inner = product(shape.subspan(at + 1));
  Tensor y = with_type(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Dense<T> from(x.value(), context);
    Fresh<T> mean(rest, context);
    for (std::ptrdiff_t o = 0; o < outer; ++o) {
      column_sums(from.data() + o * extent * inner, extent, inner, mean.data() + o * inner, context);
    }
    for (std::ptrdiff_t i = 0; i < outer * inner; ++i) mean.data()[i] /= static_cast<T>(extent);
    return mean.finish(x.dtype());
  });
  return record("mean_over", {x}, y, [extent, outer, inner, like = shape_of(x.value())](const Tensor& dy, Context& c) {
    return std::vector{with_type(like.dtype, [&](auto zero) {
      using T = decltype(zero);
      const Dense<T> from(dy, c);
      Fresh<T> dx(like.shape, c);
      T* to = dx.data();
      for (std::ptrdiff_t o = 0; o < outer; ++o) {
        for (std::ptrdiff_t e = 0; e < extent; ++e) {
          for (std::ptrdiff_t i = 0; i < inner; ++i) {
            *to++ = from.data()[o * inner + i] / static_cast<T>(extent);
          }
        }
      }
      return dx.finish(like.dtype);
    })};
  });
}

}  // namespace attn::autograd
