// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/autograd/norm.hpp>
#include <attn/error.hpp>
#include <attn/norm.hpp>

#include "autograd/broadcast.hpp"
#include "base/concat.hpp"
#include "kernels/norm_backward.hpp"

namespace attn::autograd {
namespace {

enum class Norm { layer, rms };

// Rows whose parts of the parameters' gradients are added up before those of the next rows.
constexpr std::ptrdiff_t kBlockRows = 64;

struct Saved {
  Norm norm = Norm::layer;
  Tensor x = {}, weight = {};  // weight as x is computed in
  ShapeAndDtype like_weight = {}, like_bias = {};
  double eps = 0;
};

template <class T>
std::vector<Tensor> backward(const Saved& saved, const Tensor& grad, Context& context) {
  const std::int64_t target = runtime::ContextAccess::isa(context).target;
  const auto [rows, columns] = rows_of(saved.x);
  const std::ptrdiff_t count = rows, width = columns, blocks = (count + kBlockRows - 1) / kBlockRows;
  const Dense<T> x(saved.x, context), dy(grad, context);
  const T* weight = saved.weight.has_value() ? static_cast<const T*>(saved.weight.data()) : nullptr;
  Fresh<T> dx(saved.x.shape(), context);
  // For each block its sums for the weight, then those for the bias.
  Fresh<T> parts({blocks, 2, width}, context);
  T *dx_data = dx.data(), *parts_data = parts.data();
  for_each_piece(count, kBlockRows, context, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    T* part = parts_data + begin / kBlockRows * 2 * width;
    std::fill(part, part + 2 * width, T{0});
    const kernels::NormBackwardRows<T> block{x.data() + begin * width,
                                             dy.data() + begin * width,
                                             dx_data + begin * width,
                                             weight,
                                             part,
                                             part + width,
                                             end - begin,
                                             width,
                                             static_cast<T>(saved.eps)};
    if (saved.norm == Norm::layer) {
      kernels::layer_norm_backward(block, target);
    } else {
      kernels::rms_norm_backward(block, target);
    }
  });
  Fresh<T> sums({2, width}, context);
  column_sums(parts_data, blocks, 2 * width, sums.data(), context);
  const auto half = [&](std::ptrdiff_t which, const ShapeAndDtype& like) {
    if (like.dtype == DType::none) return Tensor();
    Fresh<T> result(like.shape, context);
    std::copy(sums.data() + which * width, sums.data() + (which + 1) * width, result.data());
    return result.finish(like.dtype);
  };
  std::vector<Tensor> grads{dx.finish(saved.x.dtype()), half(0, saved.like_weight)};
  if (saved.norm == Norm::layer) grads.push_back(half(1, saved.like_bias));
  return grads;
}

void check_parameter(std::string_view where, std::string_view argument, const Variable& p, std::ptrdiff_t features) {
  if (!p.has_value()) return;
  check_operand(where, argument, p.value());
  if (p.value().rank() != 1 || p.extent(0) != features) {
    throw Error(where, argument,
                base::concat("shape ", base::shape_text(p.shape()), ", expected (", features, ") as x's features"));
  }
}

Variable normalise(Norm norm, const Variable& x, const Variable& weight, const Variable& bias, double eps,
                   Context& context) {
  const std::string_view where = norm == Norm::layer ? "layer_norm" : "rms_norm";
  check_operand(where, "x", x.value());
  const Tensor rows = dense(x.value(), x.dtype(), context);
  const auto [count, columns] = rows_of(rows);
  check_parameter(where, "weight", weight, columns);
  check_parameter(where, "bias", bias, columns);
  Tensor y = Tensor::empty(x.dtype(), x.shape(), context.memory());
  const Extents<2> extents(count, columns), strides(columns, 1);
  const NormOptions options{.weight = weight.value(), .bias = bias.value(), .eps = eps};
  if (norm == Norm::layer) {
    attn::layer_norm(In<2>(rows.dtype(), rows.data(), extents, strides), Out<2>(y.dtype(), y.data(), extents, strides),
                     options, context);
  } else {
    attn::rms_norm(In<2>(rows.dtype(), rows.data(), extents, strides), Out<2>(y.dtype(), y.data(), extents, strides),
                   options, context);
  }
  Saved saved{.norm = norm, .x = rows, .eps = eps};
  if (weight.has_value()) saved.weight = dense(weight.value(), computed_in(x.dtype()), context);
  if (weight.needs_grad()) saved.like_weight = shape_of(weight.value());
  if (bias.needs_grad()) saved.like_bias = shape_of(bias.value());
  std::vector<Variable> inputs{x, weight};
  if (norm == Norm::layer) inputs.push_back(bias);
  return record(where, std::move(inputs), y, [saved](const Tensor& dy, Context& c) {
    return with_type(saved.x.dtype(), [&](auto zero) { return backward<decltype(zero)>(saved, dy, c); });
  });
}

}  // namespace

Variable layer_norm(const Variable& x, const Variable& weight, const Variable& bias, double eps, Context& context) {
  return normalise(Norm::layer, x, weight, bias, eps, context);
}
Variable rms_norm(const Variable& x, const Variable& weight, double eps, Context& context) {
  return normalise(Norm::rms, x, weight, {}, eps, context);
}

}  // namespace attn::autograd
