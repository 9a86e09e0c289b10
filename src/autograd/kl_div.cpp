// SPDX-License-Identifier: Apache-2.0
#include <attn/autograd/loss.hpp>
#include <attn/error.hpp>
#include <cmath>

#include "autograd/broadcast.hpp"
#include "autograd/sums.hpp"
#include "base/concat.hpp"
#include "base/convert.hpp"

namespace attn::autograd {

Variable kl_div(const Variable& log_q, const Tensor& p, Context& context) {
  check_operand("kl_div", "log_q", log_q.value());
  check_operand("kl_div", "p", p);
  if (!same_shape(log_q.value(), p) || p.size() == 0) {
    throw Error("kl_div", "p",
                base::concat("shape ", base::shape_text(p.shape()), ", expected log_q's ",
                             base::shape_text(log_q.shape()), ", with elements"));
  }
  const DType dtype = computed_in(log_q.dtype());
  const double rows = static_cast<double>(rows_of(p).rows);
  const Tensor shares = p.dtype() == dtype ? copy_of(p, context) : dense(p, dtype, context);
  Tensor loss = Tensor::empty(dtype, std::span<const std::ptrdiff_t>(), context.memory());
  with_type(dtype, [&](auto zero) {
    using T = decltype(zero);
    const Dense<T> logs(log_q.value(), context), parts(shares, context);
    const double sum = sum_in_pieces(p.size(), context, [&](std::ptrdiff_t i) {
      const double share = static_cast<double>(parts.data()[i]);
      return share == 0 ? 0 : share * (std::log(share) - static_cast<double>(logs.data()[i]));
    });
    base::store_as(dtype, loss.data(), 0, sum / rows);
  });
  return record("kl_div", {log_q}, loss, [shares, rows, like = log_q.dtype()](const Tensor& dy, Context& c) {
    const double g = -base::load_as<double>(dy.dtype(), dy.data(), 0) / rows;
    return std::vector{with_type(shares.dtype(), [&](auto zero) {
      using T = decltype(zero);
      Fresh<T> dx(shares.shape(), c);
      const T* from = static_cast<const T*>(shares.data());
      for (std::ptrdiff_t i = 0; i < shares.size(); ++i) dx.data()[i] = static_cast<T>(g) * from[i];
      return dx.finish(like);
    })};
  });
}

}  // namespace attn::autograd
