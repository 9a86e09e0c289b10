// SPDX-License-Identifier: Apache-2.0
#include <attn/autograd/loss.hpp>
#include <attn/error.hpp>

#include "autograd/broadcast.hpp"
#include "autograd/sums.hpp"
#include "base/concat.hpp"
#include "base/convert.hpp"

namespace attn::autograd {

Variable mse_loss(const Variable& x, const Variable& target, Context& context) {
  check_operand("mse_loss", "x", x.value());
  check_operand("mse_loss", "target", target.value());
  if (!same_shape(x.value(), target.value()) || x.value().size() == 0) {
    throw Error("mse_loss", "target",
                base::concat("shape ", base::shape_text(target.shape()), ", expected x's ", base::shape_text(x.shape()),
                             ", with elements"));
  }
  const double n = static_cast<double>(x.value().size());
  Tensor difference, loss = Tensor::empty(computed_in(x.dtype()), std::span<const std::ptrdiff_t>(), context.memory());
  with_type(x.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const Dense<T> a(x.value(), context), b(target.value(), context);
    difference = Tensor::empty(dtype_of<T>, x.shape(), context.memory());
    T* to = static_cast<T*>(difference.data());
    const double sum = sum_in_pieces(x.value().size(), context, [&](std::ptrdiff_t i) {
      to[i] = a.data()[i] - b.data()[i];
      return static_cast<double>(to[i]) * static_cast<double>(to[i]);
    });
    base::store_as(loss.dtype(), loss.data(), 0, sum / n);
  });
  const DType x_dtype = x.needs_grad() ? x.dtype() : DType::none;
  const DType target_dtype = target.needs_grad() ? target.dtype() : DType::none;
  return record("mse_loss", {x, target}, loss, [=](const Tensor& dy, Context& c) {
    const double g = 2 / n * base::load_as<double>(dy.dtype(), dy.data(), 0);
    const auto grad = [&](double factor, DType dtype) {
      if (dtype == DType::none) return Tensor();
      return with_type(difference.dtype(), [&](auto zero) {
        using T = decltype(zero);
        const T f = static_cast<T>(factor);
        Fresh<T> dx(difference.shape(), c);
        T* to = dx.data();
        const T* from = static_cast<const T*>(difference.data());
        for_each_piece(difference.size(), kTaskElements, c, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
          for (std::ptrdiff_t i = begin; i < end; ++i) to[i] = f * from[i];
        });
        return dx.finish(dtype);
      });
    };
    return std::vector{grad(g, x_dtype), grad(-g, target_dtype)};
  });
}

}  // namespace attn::autograd
