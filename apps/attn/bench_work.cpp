// SPDX-License-Identifier: Apache-2.0
#include "bench_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <attn/error.hpp>
#include <charconv>
#include <random>
#include <vector>

#include "mask_text.hpp"

namespace attn::app {
namespace {

struct Sizes {
  std::ptrdiff_t batch, heads, queries, keys, dim;
};

[[noreturn]] void refuse_shape(const std::string& text) {
  throw Error("--shape", "", fmt::format("\"{}\", expected B,H,L,S,D: five numbers from 1 on", text));
}

Sizes parse_sizes(const std::string& text) {
  std::vector<std::ptrdiff_t> n;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::ptrdiff_t value = 0;
    const auto [after, failure] = std::from_chars(at, end, value);
    if (failure != std::errc() || value < 1) refuse_shape(text);
    n.push_back(value);
    if (after == end) break;
    if (*after != ',') refuse_shape(text);
    at = after + 1;
  }
  if (n.size() != 5) refuse_shape(text);
  return {n[0], n[1], n[2], n[3], n[4]};
}

DType parse_dtype(const std::string& name) {
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16, DType::f16}) {
    if (name == name_of(dtype)) return dtype;
  }
  throw Error("--dtype", "", fmt::format("\"{}\", expected f32, f64, bf16 or f16", name));
}

// Numbers as a trained model's queries and keys have them: of no particular pattern, about 1 in size.
Tensor random_tensor(DType dtype, const Extents<4>& extents, std::uint32_t seed) {
  Tensor numbers = Tensor::empty(DType::f32, extents.n);
  std::mt19937 bits(seed);
  // Uniform with variance 1: a normal distribution would take longer to draw than attention to compute.
  for (float& x : numbers.values<float>()) x = (static_cast<float>(bits()) * 0x1p-32F - 0.5F) * 3.4641016F;
  return dtype == DType::f32 ? numbers : numbers.to(dtype);
}

// Pairs of one head that a query sees, the last query standing at the last key.
double visible_pairs(const Sizes& n, bool is_causal, const Window& window) {
  double pairs = 0;
  for (std::ptrdiff_t i = 0; i < n.queries; ++i) {
    const std::int64_t position = i + n.keys - n.queries;
    const std::int64_t right = is_causal ? 0 : window.right;
    const std::int64_t last = right < n.keys ? std::min<std::int64_t>(n.keys - 1, position + right) : n.keys - 1;
    const std::int64_t first = window.left < n.keys ? std::max<std::int64_t>(0, position - window.left) : 0;
    pairs += static_cast<double>(std::max<std::int64_t>(0, last - first + 1));
  }
  return pairs;
}

// What the backward call needs, with the forward call's results; and the places of its own.
void add_gradients(BenchWork& work, DType dtype) {
  const auto like = [&](const Tensor& t) { return Tensor::zeros(dtype, t.shape()); };
  const auto out = work.out.shape();
  work.lse = Tensor::zeros(dtype == DType::f64 ? DType::f64 : DType::f32, out[0], out[1], out[2]);
  attention(work.q, work.k, work.v, AttentionOutputs{.out = work.out, .lse = work.lse}, work.options);
  work.grad_out = random_tensor(dtype, {out[0], out[1], out[2], out[3]}, 4);
  work.dq = like(work.q);
  work.dk = like(work.k);
  work.dv = like(work.v);
  work.flops *= 2.5;
}

}  // namespace

BenchWork make_bench_work(const BenchShape& shape) {
  const Sizes n = parse_sizes(shape.shape);
  const DType dtype = parse_dtype(shape.dtype);
  const std::ptrdiff_t kv_heads = shape.kv_heads > 0 ? shape.kv_heads : n.heads;
  const std::ptrdiff_t value_dim = shape.value_dim > 0 ? shape.value_dim : n.dim;
  const Window window = shape.window.empty() ? Window{Mask::unbounded, Mask::unbounded} : parse_window(shape.window);
  BenchWork work{.q = random_tensor(dtype, {n.batch, n.heads, n.queries, n.dim}, 1),
                 .k = random_tensor(dtype, {n.batch, kv_heads, n.keys, n.dim}, 2),
                 .v = random_tensor(dtype, {n.batch, kv_heads, n.keys, value_dim}, 3),
                 .out = Tensor::zeros(dtype, n.batch, n.heads, n.queries, value_dim),
                 .options = {.align = Align::bottom_right()}};
  if (shape.is_causal) work.options.mask = Mask::causal();
  if (!shape.window.empty()) work.options.mask = work.options.mask & Mask::window(window.left, window.right);
  const double pairs = visible_pairs(n, shape.is_causal, window) * static_cast<double>(n.batch * n.heads);
  work.flops = 2 * pairs * static_cast<double>(n.dim + value_dim);
  if (shape.is_backward) add_gradients(work, dtype);
  for (const Tensor* t : {&work.q, &work.k, &work.v, &work.out, &work.grad_out, &work.dq, &work.dk, &work.dv}) {
    if (t->has_value()) work.bytes += static_cast<double>(t->size()) * static_cast<double>(size_of(dtype));
  }
  return work;
}

void BenchWork::call(Context& context) {
  if (is_backward()) {
    attention_backward(grad_out, {.q = q, .k = k, .v = v, .out = out, .lse = lse}, {.dq = dq, .dk = dk, .dv = dv},
                       options, context);
  } else {
    attention(q, k, v, out, options, context);
  }
}

Description BenchWork::describe(Context& context) {
  if (!is_backward()) return describe_attention(q, KeyValue(k, v), {.out = out}, options, context);
  return describe_attention_backward({.out = grad_out}, {.q = q, .k = k, .v = v, .out = out, .lse = lse},
                                     {.dq = dq, .dk = dk, .dv = dv}, options, context);
}

}  // namespace attn::app
