// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/linear.hpp>

#include "kernels/epilogue.hpp"
#include "kernels/matmul.hpp"
#include "kernels/norm.hpp"
#include "kernels/transpose.hpp"
#include "ops/linear_check.hpp"
#include "ops/row_access.hpp"
#include "runtime/context_access.hpp"

namespace attn {
namespace {

using runtime::Scratch;

// Columns that the kernel multiplies at a time, before their epilogue: a block of them stays in the first cache level.
// Few rows read each weight from memory, in two goes (those that fill a register tile, and the rest): only as many
// columns, then, as stay in the second level between these.
constexpr std::ptrdiff_t kGroupColumns = 64, kNarrowColumns = 16;
constexpr std::ptrdiff_t kFewRows = 36, kGroupBytes = 256 * 1024;

// Rows of a task: so many that the weight's panels, which pass by them once, are read seldom, and so few (a multiple of
// every register tile's height) that their part of x stays in the second cache level.
constexpr std::ptrdiff_t kMostRows = 96, kRowStep = 12, kRowBytes = 288 * 1024;

// Weights of a task's columns: they stay in the third cache level while all rows pass by.
constexpr std::ptrdiff_t kPanelBytes = 2400 * 1024;

// How many tasks a thread should have, so that uneven ones even out.
constexpr std::ptrdiff_t kTasksPerThread = 4;

// Rows at such a distance share their places in the cache.
constexpr std::ptrdiff_t kAliasBytes = 4096;

constexpr std::ptrdiff_t blocks(std::ptrdiff_t extent, std::ptrdiff_t block) { return (extent + block - 1) / block; }

// How a product is split into tasks: rows, and columns too where rows are too few for all threads or the weight is too
// large. No result depends on it.
struct Split {
  std::ptrdiff_t rows, columns;  // of a task
  std::ptrdiff_t row_blocks, column_blocks;

  // depth_bytes: those of a row of x, and of an output's weights.
  Split(const Extents<2>& y, std::ptrdiff_t depth_bytes, int threads) {
    const std::ptrdiff_t bytes = std::max<std::ptrdiff_t>(depth_bytes, 1);
    rows = std::clamp(kRowBytes / bytes / kRowStep * kRowStep, kRowStep, kMostRows);
    row_blocks = blocks(y[0], rows);
    const std::ptrdiff_t groups = std::max<std::ptrdiff_t>(blocks(y[1], kGroupColumns), 1);
    const std::ptrdiff_t fitting = std::max<std::ptrdiff_t>(kPanelBytes / bytes / kGroupColumns, 1);
    std::ptrdiff_t wanted = row_blocks > 1 ? blocks(groups, fitting) : 1;
    if (threads > 1)
      wanted = std::max(wanted, blocks(threads * kTasksPerThread, std::max<std::ptrdiff_t>(row_blocks, 1)));
    columns = blocks(groups, std::min(groups, wanted)) * kGroupColumns;
    column_blocks = blocks(y[1], columns);
  }
};

// The type in which a weight's panels are stored.
DType panel_dtype(const PackedWeight& weight) {
  switch (weight.storage()) {
    case WeightStorage::bf16:
      return DType::bf16;
    case WeightStorage::int8:
      return DType::i8;
    default:
      return weight.dtype();
  }
}

template <class T>
class Product {
 public:
  Product(const In<2>& x, const PackedWeight& weight, const Out<2>& y, const LinearOptions& options, Context& context)
      : x_(x),
        weight_(weight),
        options_(options),
        context_(context),
        pool_(runtime::ContextAccess::scratch(context)),
        target_(runtime::ContextAccess::isa(context).target),
        y_(y),
        held_(In<2>(y)),
        residual_(options.residual),
        bias_(options.bias, pool_),
        norm_weight_(options.norm ? options.norm->weight : In<1>(), pool_),
        norm_bias_(options.norm ? options.norm->bias : In<1>(), pool_),
        rows_(y.extent(0)),
        columns_(y.extent(1)),
        depth_(weight.in_features()),
        split_(y.extents(), depth_ * static_cast<std::ptrdiff_t>(sizeof(T)), context.threads()) {
    const std::ptrdiff_t row_bytes = x.stride(0) * static_cast<std::ptrdiff_t>(sizeof(T));
    copies_x_ = x.dtype() != dtype_of<T> || x.stride(1) != 1 || row_bytes % kAliasBytes == 0;
    // An odd number of cache lines to a row.
    constexpr std::ptrdiff_t kLine = 64 / static_cast<std::ptrdiff_t>(sizeof(T));
    copy_row_ = (blocks(depth_, kLine) | 1) * kLine;
    // Nothing is left to be done to the sums.
    sums_in_place_ = y_.is_direct() && !options.bias.wanted() && !options.residual.wanted() && !options.norm &&
                     options.activation == Activation::none && weight.scales() == nullptr;
    if (options.norm && !y_.is_direct()) {
      const auto size = static_cast<std::size_t>(rows_ * columns_);
      sums_memory_.emplace(pool_, Scratch::padded<T>(size));
      sums_.emplace(view(sums_memory_->take<T>(size), rows_, columns_));
    }
  }

  void run() const {
    runtime::Executor& executor = runtime::ContextAccess::executor(context_);
    // All rows pass by one block of columns, then by the next.
    executor.run(split_.row_blocks * split_.column_blocks, [&](std::ptrdiff_t task) {
      multiply(task % split_.row_blocks * split_.rows, task / split_.row_blocks * split_.columns);
    });
    if (options_.norm && split_.column_blocks > 1) {
      executor.run(blocks(rows_, kRowStep), [&](std::ptrdiff_t block) { normalise(block * kRowStep, kRowStep); });
    }
  }

 private:
  // One task: its rows and columns from these on.
  void multiply(std::ptrdiff_t first_row, std::ptrdiff_t first_column) const {
    const std::ptrdiff_t rows = std::min(split_.rows, rows_ - first_row);
    const std::ptrdiff_t end = std::min(columns_, first_column + split_.columns);
    const auto block_size = static_cast<std::size_t>(split_.rows * kGroupColumns);
    const auto copy_size = static_cast<std::size_t>(copies_x_ ? rows * copy_row_ : 0);
    Scratch scratch(
        pool_, Scratch::padded<T>(block_size) + 2 * Scratch::padded<T>(kGroupColumns) + Scratch::padded<T>(copy_size));
    T* block = scratch.take<T>(block_size);
    T* buffers[2] = {scratch.take<T>(kGroupColumns), scratch.take<T>(kGroupColumns)};
    const T* a = copies_x_ ? copied_rows(first_row, rows, scratch.take<T>(copy_size))
                           : static_cast<const T*>(x_.data()) + first_row * x_.stride(0);
    const DType stored = panel_dtype(weight_);
    const std::ptrdiff_t depth_bytes = depth_ * static_cast<std::ptrdiff_t>(size_of(stored));
    const std::ptrdiff_t group =
        rows <= kFewRows && depth_bytes * kGroupColumns > kGroupBytes ? kNarrowColumns : kGroupColumns;
    for (std::ptrdiff_t column = first_column; column < end; column += group) {
      const std::ptrdiff_t columns = std::min(group, end - column);
      const auto* panels = static_cast<const std::byte*>(weight_.panels()) + column * depth_bytes;
      const bool in_place = sums_in_place_ && columns % kernels::kPanelColumns<T> == 0;
      if (options_.accumulate && !in_place) take_held(block, first_row, rows, column, columns);
      kernels::matmul({.a = a,
                       .a_row = copies_x_ ? copy_row_ : x_.stride(0),
                       .panel_dtype = stored,
                       .panels = panels,
                       .c = in_place ? y_.begin(first_row, column, nullptr) : block,
                       .c_row = in_place ? y_.row_stride() : kGroupColumns,
                       .rows = rows,
                       .columns = columns,
                       .depth = depth_,
                       .accumulates = options_.accumulate},
                      target_);
      if (!in_place) finish(block, first_row, rows, column, columns, buffers);
    }
    if (options_.norm && split_.column_blocks == 1) normalise(first_row, rows);
  }

  const T* copied_rows(std::ptrdiff_t first, std::ptrdiff_t rows, T* copy) const {
    if (x_.dtype() == dtype_of<T> && x_.stride(0) == 1) {
      kernels::transpose(static_cast<const T*>(x_.data()) + first, x_.stride(1), depth_, rows, copy, copy_row_,
                         target_);
      return copy;
    }
    const ops::RowReader<T> reader(x_);
    for (std::ptrdiff_t r = 0; r < rows; ++r) {
      T* to = copy + r * copy_row_;
      const T* from = reader.read(first + r, 0, depth_, to);
      if (from != to) std::copy(from, from + depth_, to);
    }
    return copy;
  }

  // What y holds, for the sums to start from.
  void take_held(T* block, std::ptrdiff_t first_row, std::ptrdiff_t rows, std::ptrdiff_t column,
                 std::ptrdiff_t columns) const {
    for (std::ptrdiff_t r = 0; r < rows; ++r, block += kGroupColumns) {
      const T* held = held_.read(first_row + r, column, columns, block);
      if (held != block) std::copy(held, held + columns, block);
      std::fill(block + columns, block + kGroupColumns, T{0});
    }
  }

  // A block of sums to where they belong.
  void finish(const T* block, std::ptrdiff_t first_row, std::ptrdiff_t rows, std::ptrdiff_t column,
              std::ptrdiff_t columns, T* const* buffers) const {
    const ops::RowWriter<T>& to = sums_ ? *sums_ : y_;
    kernels::Epilogue<T> e{};
    e.x_row = kGroupColumns;
    e.y_row = to.row_stride();
    if constexpr (std::is_same_v<T, float>) e.scale = weight_.scales() != nullptr ? weight_.scales() + column : nullptr;
    if (bias_.data() != nullptr) e.bias = bias_.data() + column;
    e.residual_row = residual_.row_stride();
    e.columns = columns;
    e.activation = options_.activation;
    const bool is_direct = to.is_direct() && (!residual_.wanted() || residual_.is_direct());
    e.rows = is_direct ? rows : 1;
    for (std::ptrdiff_t r = 0; r < rows; r += e.rows) {
      e.x = block + r * kGroupColumns;
      e.y = to.begin(first_row + r, column, buffers[0]);
      if (residual_.wanted()) e.residual = residual_.read(first_row + r, column, columns, buffers[1]);
      kernels::apply_epilogue(e, target_);
      to.end(first_row + r, column, columns, buffers[0]);
    }
  }

  void normalise(std::ptrdiff_t first, std::ptrdiff_t rows) const {
    Scratch scratch(pool_, Scratch::padded<T>(static_cast<std::size_t>(columns_)));
    T* buffer = scratch.take<T>(static_cast<std::size_t>(columns_));
    const ops::RowWriter<T>& from = sums_ ? *sums_ : y_;
    for (std::ptrdiff_t r = first; r < std::min(rows_, first + rows); ++r) {
      kernels::layer_norm(
          kernels::NormRows<T>{from.begin(r, 0, nullptr), 0, y_.begin(r, 0, buffer), 0, norm_weight_.data(),
                               norm_bias_.data(), 1, columns_, static_cast<T>(options_.norm->eps)},
          target_);
      y_.end(r, 0, columns_, buffer);
    }
  }

  In<2> x_;
  const PackedWeight& weight_;
  const LinearOptions& options_;
  Context& context_;
  runtime::ScratchPool& pool_;
  std::int64_t target_;
  ops::RowWriter<T> y_;
  ops::RowReader<T> held_, residual_;
  ops::Parameters<T> bias_, norm_weight_, norm_bias_;
  std::ptrdiff_t rows_, columns_, depth_;
  Split split_;
  bool copies_x_, sums_in_place_;
  std::ptrdiff_t copy_row_;
  // What is to be normalised, where y cannot hold it.
  std::optional<Scratch> sums_memory_;
  std::optional<ops::RowWriter<T>> sums_;
};

}  // namespace

void linear(In<2> x, const PackedWeight& weight, Out<2> y, const LinearOptions& options, Context& context) {
  ops::check_linear(x, weight, y, options);
  if (weight.dtype() == DType::f64) {
    Product<double>(x, weight, y, options, context).run();
  } else {
    Product<float>(x, weight, y, options, context).run();
  }
}

}  // namespace attn
