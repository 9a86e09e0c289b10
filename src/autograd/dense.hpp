// SPDX-License-Identifier: Apache-2.0
// What ops share: their operands as plain arrays of the type they compute in, and the way back to the stored dtype.
// Numbers are computed in f64 when they are stored so, else in f32, and rounded once when stored as bf16 or f16.
#pragma once

#include <algorithm>
#include <attn/context.hpp>
#include <attn/tensor.hpp>
#include <initializer_list>

#include "runtime/context_access.hpp"

namespace attn::autograd {

// Elements that a task of an element-wise op takes: enough to be worth a task, few enough to stay in the cache.
inline constexpr std::ptrdiff_t kTaskElements = 16384;

constexpr DType computed_in(DType t) { return t == DType::f64 ? DType::f64 : DType::f32; }

// f(double{}) for f64, f(float{}) for all others.
template <class F>
auto with_type(DType t, const F& f) {
  return t == DType::f64 ? f(double{}) : f(float{});
}

// Splits 0 ... count - 1 over threads: f(begin, end), in pieces that do not depend on their number.
template <class F>
void for_each_piece(std::ptrdiff_t count, std::ptrdiff_t piece, Context& context, const F& f) {
  runtime::ContextAccess::executor(context).run(
      (count + piece - 1) / piece, [&](std::ptrdiff_t n) { f(n * piece, std::min(count, (n + 1) * piece)); });
}
// As many rows as make up a task.
constexpr std::ptrdiff_t rows_of_task(std::ptrdiff_t columns) {
  return std::max<std::ptrdiff_t>(1, kTaskElements / std::max<std::ptrdiff_t>(1, columns));
}

// The tensor itself when it is row-major and of this dtype, else a copy that is.
Tensor dense(const Tensor& t, DType dtype, Context& context);
// A row-major copy of the same dtype.
Tensor copy_of(const Tensor& t, Context& context);
// Copies t into a row-major tensor of its shape, rounded to its dtype.
void copy_elements(const Tensor& t, Tensor& out, Context& context);
// A tensor of this shape in which every element is `value`.
Tensor filled(DType dtype, std::span<const std::ptrdiff_t> shape, double value, Context& context);

// a + b, of one shape and dtype; rounded once.
Tensor sum_of(const Tensor& a, const Tensor& b, Context& context);
void add_in_place(Tensor& a, const Tensor& b, Context& context);

// An operand as T, row-major. Copied only where it is not so already.
template <class T>
class Dense {
 public:
  Dense(const Tensor& t, Context& context) : held_(dense(t, dtype_of<T>, context)) {}
  const T* data() const { return static_cast<const T*>(held_.data()); }

 private:
  Tensor held_;
};

// Memory for results as T, which finish() gives as `dtype`.
template <class T>
class Fresh {
 public:
  Fresh(std::span<const std::ptrdiff_t> shape, Context& context)
      : held_(Tensor::empty(dtype_of<T>, shape, context.memory())), context_(context) {}
  Fresh(std::initializer_list<std::ptrdiff_t> shape, Context& context)
      : Fresh(std::span<const std::ptrdiff_t>(shape.begin(), shape.size()), context) {}
  T* data() { return static_cast<T*>(held_.data()); }
  Tensor finish(DType dtype) const { return dense(held_, dtype, context_); }

 private:
  Tensor held_;
  Context& context_;
};

// The extents as rows and columns: the last dimension, and all others together.
struct Rows {
  std::ptrdiff_t rows = 1, columns = 1;
};
Rows rows_of(const Tensor& t);
std::ptrdiff_t product(std::span<const std::ptrdiff_t> shape);
bool same_shape(const Tensor& a, const Tensor& b);

// Throws Error naming both unless the operand holds floating numbers.
void check_operand(std::string_view where, std::string_view argument, const Tensor& t);
// The same, and that it has the dtype of the first operand.
void check_operand(std::string_view where, std::string_view argument, const Tensor& t, const Tensor& first);

}  // namespace attn::autograd
