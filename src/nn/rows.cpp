// SPDX-License-Identifier: Apache-2.0
#include "nn/rows.hpp"

#include <cstring>

#include "base/concat.hpp"

namespace attn::nn {
namespace {

// The product of all extents but the last.
std::ptrdiff_t row_count(const Input& x) {
  std::ptrdiff_t rows = 1;
  for (int d = 0; d + 1 < x.rank(); ++d) rows *= x.extent(d);
  return rows;
}

}  // namespace

void check_memory(std::string_view where, std::string_view argument, const Input& x) {
  if (x.data() == nullptr && x.size() != 0) {
    throw Error(where, argument, base::concat("null pointer, expected memory for ", base::shape_text(x.shape())));
  }
}

void check_numbers(std::string_view where, std::string_view argument, const Input& x) {
  if (!is_floating(x.dtype())) {
    throw Error(where, argument, base::concat("dtype ", name_of(x.dtype()), ", expected f32, f64, bf16 or f16"));
  }
  if (x.rank() < 1) throw Error(where, argument, "rank 0, expected 1 or more");
  check_memory(where, argument, x);
}

void check_trainable(std::string_view where, const autograd::Variable& parameter) {
  if (!parameter.has_value())
    throw Error(where, "weight", "not trainable, expected initialise or load_parameters first");
}

Tensor in_dtype(const Tensor& parameter, DType dtype) {
  return !parameter.has_value() || parameter.dtype() == dtype ? parameter : parameter.to(dtype);
}

Tensor contiguous(const Input& x, Context& context) {
  Tensor copy = Tensor::empty(x.dtype(), x.shape(), context.memory());
  const std::size_t bytes = size_of(x.dtype());
  std::byte* to = static_cast<std::byte*>(copy.data());
  const std::byte* from = static_cast<const std::byte*>(x.data());
  std::array<std::ptrdiff_t, Input::kMaxRank> at{};
  for (std::ptrdiff_t n = 0; n < x.size(); ++n) {
    std::ptrdiff_t offset = 0;
    for (int d = 0; d < x.rank(); ++d) offset += at[static_cast<std::size_t>(d)] * x.stride(d);
    std::memcpy(to + n * static_cast<std::ptrdiff_t>(bytes), from + offset * static_cast<std::ptrdiff_t>(bytes), bytes);
    // The next place, the last dimension first.
    for (int d = x.rank() - 1; d >= 0 && ++at[static_cast<std::size_t>(d)] == x.extent(d); --d) {
      at[static_cast<std::size_t>(d)] = 0;
    }
  }
  return copy;
}

In<2> as_rows(const Input& x, Context& context, Tensor& copy) {
  const std::ptrdiff_t rows = row_count(x), features = x.extent(-1);
  // The step from row to row is that of the last leading dimension that has more than one element.
  std::ptrdiff_t step = features, covered = 1;
  bool is_even = true;
  for (int d = x.rank() - 2; d >= 0; --d) {
    if (x.extent(d) == 1) continue;
    if (covered == 1) step = x.stride(d);
    is_even = is_even && x.stride(d) == step * covered;
    covered *= x.extent(d);
  }
  if (is_even) return {x.dtype(), x.data(), {rows, features}, {step, x.stride(-1)}};
  copy = contiguous(x, context);
  return {copy.dtype(), std::as_const(copy).data(), {rows, features}, {features, std::ptrdiff_t{1}}};
}

Tensor empty_like_rows(const Input& x, std::ptrdiff_t features, DType dtype, Context& context) {
  std::vector<std::ptrdiff_t> shape(x.shape().begin(), x.shape().end());
  shape.back() = features;
  return Tensor::empty(dtype, shape, context.memory());
}

Out<2> rows_of(Tensor& t) {
  const std::ptrdiff_t features = t.extent(-1);
  std::ptrdiff_t rows = 1;
  for (const std::ptrdiff_t extent : t.shape().first(t.shape().size() - 1)) rows *= extent;
  return {t.dtype(), t.data(), {rows, features}, {features, std::ptrdiff_t{1}}};
}

}  // namespace attn::nn
