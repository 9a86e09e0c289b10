// SPDX-License-Identifier: Apache-2.0
#include "autograd/dense.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/concat.hpp"
#include "base/convert.hpp"

namespace attn::autograd {
namespace {

// count elements, each `step` from the last, to neighbouring ones.
void copy_run(DType from, const void* data, std::ptrdiff_t at, std::ptrdiff_t step, std::ptrdiff_t count, DType to,
              void* out, std::ptrdiff_t out_at) {
  if (from == to && step == 1) {
    const std::ptrdiff_t size = static_cast<std::ptrdiff_t>(size_of(from));
    std::memcpy(static_cast<std::byte*>(out) + out_at * size, static_cast<const std::byte*>(data) + at * size,
                static_cast<std::size_t>(count * size));
    return;
  }
  if (from == DType::f64 || to == DType::f64) {
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      base::store_as(to, out, out_at + i, base::load_as<double>(from, data, at + i * step));
    }
  } else {
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      base::store_as(to, out, out_at + i, base::load_as<float>(from, data, at + i * step));
    }
  }
}

template <class T>
void add_arrays(const Tensor& a, const Tensor& b, Tensor& out, Context& context) {
  const Dense<T> x(a, context), y(b, context);
  T* to = static_cast<T*>(out.data());
  for_each_piece(a.size(), kTaskElements, context, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    const T *from = x.data(), *other = y.data();
    for (std::ptrdiff_t i = begin; i < end; ++i) to[i] = from[i] + other[i];
  });
}

}  // namespace

void copy_elements(const Tensor& t, Tensor& out, Context& context) {
  if (t.size() == 0) return;
  if (t.is_contiguous()) {
    for_each_piece(t.size(), kTaskElements, context, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
      copy_run(t.dtype(), t.data(), begin, 1, end - begin, out.dtype(), out.data(), begin);
    });
    return;
  }
  const auto [rows, columns] = rows_of(t);
  const std::span<const std::ptrdiff_t> shape = t.shape(), strides = t.strides();
  const std::ptrdiff_t width = columns;
  for_each_piece(rows, rows_of_task(columns), context, [&](std::ptrdiff_t begin, std::ptrdiff_t end) {
    for (std::ptrdiff_t r = begin; r < end; ++r) {
      std::ptrdiff_t at = 0, rest = r;
      for (std::size_t d = shape.size() - 1; d-- > 0;) {
        at += rest % shape[d] * strides[d];
        rest /= shape[d];
      }
      copy_run(t.dtype(), t.data(), at, strides.back(), width, out.dtype(), out.data(), r * width);
    }
  });
}

Tensor dense(const Tensor& t, DType dtype, Context& context) {
  if (t.dtype() == dtype && t.is_contiguous()) return t;
  Tensor copy = Tensor::empty(dtype, t.shape(), context.memory());
  copy_elements(t, copy, context);
  return copy;
}

Tensor copy_of(const Tensor& t, Context& context) {
  Tensor copy = Tensor::empty(t.dtype(), t.shape(), context.memory());
  copy_elements(t, copy, context);
  return copy;
}

Tensor filled(DType dtype, std::span<const std::ptrdiff_t> shape, double value, Context& context) {
  Tensor t = Tensor::empty(dtype, shape, context.memory());
  if (value == 0) {
    std::memset(t.data(), 0, static_cast<std::size_t>(t.size()) * size_of(dtype));
  } else {
    for (std::ptrdiff_t i = 0; i < t.size(); ++i) base::store_as(dtype, t.data(), i, value);
  }
  return t;
}

Tensor sum_of(const Tensor& a, const Tensor& b, Context& context) {
  return with_type(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    Tensor sum = Tensor::empty(dtype_of<T>, a.shape(), context.memory());
    add_arrays<T>(a, b, sum, context);
    return dense(sum, a.dtype(), context);
  });
}

void add_in_place(Tensor& a, const Tensor& b, Context& context) {
  if (a.dtype() == computed_in(a.dtype()) && a.is_contiguous()) {
    with_type(a.dtype(), [&](auto zero) { add_arrays<decltype(zero)>(a, b, a, context); });
    return;
  }
  const Tensor sum = sum_of(a, b, context);
  if (a.is_contiguous()) {
    copy_elements(sum, a, context);
  } else {
    a = sum;
  }
}

Rows rows_of(const Tensor& t) {
  Rows r;
  const std::span<const std::ptrdiff_t> shape = t.shape();
  for (std::size_t d = 0; d + 1 < shape.size(); ++d) r.rows *= shape[d];
  if (!shape.empty()) r.columns = shape.back();
  return r;
}

std::ptrdiff_t product(std::span<const std::ptrdiff_t> shape) {
  std::ptrdiff_t n = 1;
  for (const std::ptrdiff_t extent : shape) n *= extent;
  return n;
}

bool same_shape(const Tensor& a, const Tensor& b) {
  return std::equal(a.shape().begin(), a.shape().end(), b.shape().begin(), b.shape().end());
}

void check_operand(std::string_view where, std::string_view argument, const Tensor& t) {
  if (!is_floating(t.dtype())) {
    throw Error(where, argument, base::concat("dtype ", name_of(t.dtype()), ", expected f32, f64, bf16 or f16"));
  }
  if (t.data() == nullptr && t.size() != 0) {
    throw Error(where, argument, base::concat("null pointer, expected memory for ", base::shape_text(t.shape())));
  }
}

void check_operand(std::string_view where, std::string_view argument, const Tensor& t, const Tensor& first) {
  check_operand(where, argument, t);
  if (t.dtype() != first.dtype()) {
    throw Error(
        where, argument,
        base::concat("dtype ", name_of(t.dtype()), ", expected ", name_of(first.dtype()), " as the other operand"));
  }
}

}  // namespace attn::autograd
