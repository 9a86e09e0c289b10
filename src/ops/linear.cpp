// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/linear.hpp>

#include "kernels/epilogue.hpp"
#include "kernels/matmul.hpp"
#include "ops/row_access.hpp"
#include "ops/view_check.hpp"
#include "runtime/context_access.hpp"

namespace attn {
namespace {

// A task multiplies this block: 96 rows of A (a multiple of every register tile's height) stay in the second cache
// level, and even one row of a wide layer gives each of several threads some columns.
constexpr std::ptrdiff_t kBlockRows = 96, kBlockColumns = 64;

constexpr std::ptrdiff_t blocks(std::ptrdiff_t extent, std::ptrdiff_t block) { return (extent + block - 1) / block; }

void check(const In<2>& x, const PackedWeight& weight, const Out<2>& y, const LinearOptions& options) {
  constexpr std::string_view kWhere = "linear";
  ops::check_floating(kWhere, "x", x);
  ops::check_floating(kWhere, "y", y);
  const Extents<2> expected(x.extent(0), weight.out_features());
  if (x.extent(1) != weight.in_features()) {
    throw Error(kWhere, "x",
                base::concat(x.extent(1), " features, expected ", weight.in_features(), " as in the weight"));
  }
  ops::check_extents(kWhere, "y", y, expected, "as x's rows by the weight's outputs");
  if (options.bias.wanted()) {
    ops::check_floating(kWhere, "bias", options.bias);
    ops::check_extents(kWhere, "bias", options.bias, {weight.out_features()}, "as the weight's outputs");
  }
  if (options.residual.wanted()) {
    ops::check_floating(kWhere, "residual", options.residual);
    ops::check_extents(kWhere, "residual", options.residual, expected, "as in y");
  }
}

// x itself when it is of type T, else a widened copy.
template <class T>
In<2> as_type(const In<2>& x, Context& context, Tensor& copy) {
  if (x.dtype() == dtype_of<T>) return x;
  const std::ptrdiff_t shape[] = {x.extent(0), x.extent(1)};
  copy = Tensor::empty(dtype_of<T>, shape, context.memory());
  T* to = copy.values<T>().data();
  const ops::RowReader<T> reader(x);
  runtime::ContextAccess::executor(context).run(blocks(x.extent(0), kBlockRows), [&](std::ptrdiff_t block) {
    const std::ptrdiff_t end = std::min(x.extent(0), (block + 1) * kBlockRows);
    for (std::ptrdiff_t r = block * kBlockRows; r < end; ++r) reader.read(r, 0, x.extent(1), to + r * x.extent(1));
  });
  return copy;
}

// Everything that a task needs.
template <class T>
struct Plan {
  In<2> x;
  const T* panels;
  ops::RowWriter<T> y;
  ops::RowReader<T> residual;
  const T* bias;
  Activation activation;
  std::ptrdiff_t rows, columns, depth;
  std::int64_t target;
};

template <class T>
void multiply_block(const Plan<T>& plan, std::ptrdiff_t first_row, std::ptrdiff_t first_column,
                    runtime::Scratch& scratch) {
  const std::ptrdiff_t rows = std::min(kBlockRows, plan.rows - first_row);
  const std::ptrdiff_t columns = std::min(kBlockColumns, plan.columns - first_column);
  T* block = scratch.take<T>(kBlockRows * kBlockColumns);
  T* residual_buffer = scratch.take<T>(kBlockColumns);
  T* y_buffer = scratch.take<T>(kBlockColumns);
  kernels::matmul(kernels::MatmulBlock<T>{plan.x.template as<const T>().data() + first_row * plan.x.stride(0),
                                          plan.x.stride(0), plan.x.stride(1), plan.panels + first_column * plan.depth,
                                          block, kBlockColumns, rows, columns, plan.depth},
                  plan.target);
  for (std::ptrdiff_t r = 0; r < rows; ++r) {
    const T* residual =
        plan.residual.wanted() ? plan.residual.read(first_row + r, first_column, columns, residual_buffer) : nullptr;
    T* y = plan.y.begin(first_row + r, first_column, y_buffer);
    const T* bias = plan.bias != nullptr ? plan.bias + first_column : nullptr;
    kernels::apply_epilogue(
        kernels::Epilogue<T>{block + r * kBlockColumns, 0, y, 0, bias, residual, 0, 1, columns, plan.activation},
        plan.target);
    plan.y.end(first_row + r, first_column, columns, y_buffer);
  }
}

template <class T>
void run(const In<2>& x, const PackedWeight& weight, const Out<2>& y, const LinearOptions& options, Context& context) {
  Tensor widened;
  const ops::Parameters<T> bias(options.bias);
  const Plan<T> plan{as_type<T>(x, context, widened),
                     static_cast<const T*>(weight.panels()),
                     ops::RowWriter<T>(y),
                     ops::RowReader<T>(options.residual),
                     bias.data(),
                     options.activation,
                     y.extent(0),
                     y.extent(1),
                     weight.in_features(),
                     runtime::ContextAccess::isa(context).target};
  using runtime::Scratch;
  const std::size_t bytes = Scratch::padded<T>(kBlockRows * kBlockColumns) + 2 * Scratch::padded<T>(kBlockColumns);
  // Tasks of one block of rows follow each other, so that these stay in the cache.
  const std::ptrdiff_t across = blocks(plan.columns, kBlockColumns);
  runtime::ContextAccess::executor(context).run(blocks(plan.rows, kBlockRows) * across, [&](std::ptrdiff_t task) {
    Scratch scratch(runtime::ContextAccess::scratch(context), bytes);
    multiply_block(plan, task / across * kBlockRows, task % across * kBlockColumns, scratch);
  });
}

template <class T>
Tensor pack(const In<2>& weight, Context& context) {
  const std::ptrdiff_t panels = kernels::panel_count<T>(weight.extent(0));
  const std::ptrdiff_t shape[] = {panels, weight.extent(1), kernels::kPanelColumns<T>};
  Tensor packed = Tensor::empty(dtype_of<T>, shape, context.memory());
  T* to = packed.values<T>().data();
  runtime::ContextAccess::executor(context).run(panels, [&](std::ptrdiff_t p) {
    kernels::pack_panels<T>(weight.dtype(), weight.data(), weight.extents(), weight.strides(), p, p + 1, to);
  });
  return packed;
}

}  // namespace

PackedWeight::PackedWeight(In<2> weight, Context& context) {
  ops::check_floating("PackedWeight", "weight", weight);
  out_features_ = weight.extent(0);
  in_features_ = weight.extent(1);
  dtype_ = weight.dtype() == DType::f64 ? DType::f64 : DType::f32;
  panels_ = dtype_ == DType::f64 ? pack<double>(weight, context) : pack<float>(weight, context);
}

void linear(In<2> x, const PackedWeight& weight, Out<2> y, const LinearOptions& options, Context& context) {
  check(x, weight, y, options);
  if (weight.dtype() == DType::f64) {
    run<double>(x, weight, y, options, context);
  } else {
    run<float>(x, weight, y, options, context);
  }
}

}  // namespace attn
