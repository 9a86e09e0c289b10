// SPDX-License-Identifier: Apache-2.0
// oneDNN: matrix product, softmax, matrix product; and its matrix product alone. f32.
#include <cmath>
#include <limits>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "native/calls.hpp"
#include "native/guard.hpp"

namespace {

using dnnl::memory;
using Dims = memory::dims;
using Arguments = std::unordered_map<int, memory>;

struct Step {
  dnnl::primitive primitive;
  Arguments arguments;
};
struct Plan {
  std::vector<Step> steps;
};

dnnl::engine& engine() {
  static dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}
dnnl::stream& stream() {
  static dnnl::stream in_order(engine());
  return in_order;
}

memory::desc describe(const Dims& dims, const Dims& strides) { return {dims, memory::data_type::f32, strides}; }
memory::desc describe(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t d = dims.size() - 1; d > 0; --d) strides[d - 1] = strides[d] * dims[d];
  return describe(dims, strides);
}
memory borrow(const memory::desc& desc, const void* data) { return {desc, engine(), const_cast<void*>(data)}; }

// The two major releases differ in how a primitive is described.
#if DNNL_VERSION_MAJOR >= 3
dnnl::matmul::primitive_desc product(const memory::desc& a, const memory::desc& b, const memory::desc& c,
                                     const dnnl::primitive_attr& attr = {}) {
  return {engine(), a, b, c, attr};
}
dnnl::softmax_forward::primitive_desc softmax(const memory::desc& scores) {
  return {engine(), dnnl::prop_kind::forward_inference, dnnl::algorithm::softmax_accurate, scores, scores, 3};
}
dnnl::binary::primitive_desc addition(const memory::desc& a, const memory::desc& b) {
  return {engine(), dnnl::algorithm::binary_add, a, b, a};
}
void append_scale(dnnl::post_ops& ops, float scale) { ops.append_eltwise(dnnl::algorithm::eltwise_linear, scale, 0); }
#else
dnnl::matmul::primitive_desc product(const memory::desc& a, const memory::desc& b, const memory::desc& c,
                                     const dnnl::primitive_attr& attr = {}) {
  return {dnnl::matmul::desc(a, b, c), attr, engine()};
}
dnnl::softmax_forward::primitive_desc softmax(const memory::desc& scores) {
  return {dnnl::softmax_forward::desc(dnnl::prop_kind::forward_inference, scores, 3), engine()};
}
dnnl::binary::primitive_desc addition(const memory::desc& a, const memory::desc& b) {
  return {dnnl::binary::desc(dnnl::algorithm::binary_add, a, b, a), engine()};
}
void append_scale(dnnl::post_ops& ops, float scale) {
  ops.append_eltwise(1, dnnl::algorithm::eltwise_linear, scale, 0);
}
#endif

// What is added to the scores: the bias, and -inf at hidden pairs; empty when there is nothing to add.
std::vector<float> additive_mask(const BenchAttention& c) {
  if (c.is_causal == 0 && c.window_left < 0 && c.keep == nullptr && c.bias == nullptr) return {};
  std::vector<float> mask(static_cast<std::size_t>(c.queries * c.keys));
  for (std::int64_t i = 0; i < c.queries; ++i) {
    const std::int64_t position = i + c.keys - c.queries;
    for (std::int64_t j = 0; j < c.keys; ++j) {
      const std::int64_t at = i * c.keys + j;
      const bool is_hidden = ((c.is_causal != 0 || c.window_left >= 0) && j > position) ||
                             (c.window_left >= 0 && j < position - c.window_left) || (c.keep != nullptr && !c.keep[at]);
      mask[static_cast<std::size_t>(at)] = is_hidden           ? -std::numeric_limits<float>::infinity()
                                           : c.bias != nullptr ? c.bias[at]
                                                               : 0.0F;
    }
  }
  return mask;
}

void plan_attention(const BenchAttention& c, Plan& plan) {
  if (c.dtype != 1) throw std::runtime_error("f32 only");
  const std::int64_t kv = c.batch * c.kv_heads, group = c.heads / c.kv_heads;
  // Heads of a group share keys and values by broadcasting.
  const memory::desc q = describe({kv, group, c.queries, c.dim});
  const memory::desc k = describe({kv, 1, c.dim, c.keys}, {c.keys * c.dim, c.keys * c.dim, 1, c.dim});
  const memory::desc v = describe({kv, 1, c.keys, c.value_dim});
  const memory::desc scores = describe({kv, group, c.queries, c.keys});
  const memory::desc out = describe({kv, group, c.queries, c.value_dim});

  memory weights(scores, engine());
  dnnl::post_ops ops;
  append_scale(ops, 1 / std::sqrt(static_cast<float>(c.dim)));
  Arguments first{{DNNL_ARG_SRC, borrow(q, c.q)}, {DNNL_ARG_WEIGHTS, borrow(k, c.k)}, {DNNL_ARG_DST, weights}};
  dnnl::primitive_attr attr;
  attr.set_post_ops(ops);
  plan.steps.push_back({dnnl::matmul(product(q, k, scores, attr)), first});
  const std::vector<float> added = additive_mask(c);
  if (!added.empty()) {
    // As a step of its own: fused into the product it makes oneDNN take its reference code, thousands of times slower.
    const memory::desc all = describe({kv * group, 1, c.queries, c.keys}), mask = describe({1, 1, c.queries, c.keys});
    memory held(mask, engine());
    std::copy(added.begin(), added.end(), static_cast<float*>(held.get_data_handle()));
    const memory seen(all, engine(), weights.get_data_handle());
    plan.steps.push_back(
        {dnnl::binary(addition(all, mask)), {{DNNL_ARG_SRC_0, seen}, {DNNL_ARG_SRC_1, held}, {DNNL_ARG_DST, seen}}});
  }
  plan.steps.push_back({dnnl::softmax_forward(softmax(scores)), {{DNNL_ARG_SRC, weights}, {DNNL_ARG_DST, weights}}});
  plan.steps.push_back(
      {dnnl::matmul(product(scores, v, out)),
       {{DNNL_ARG_SRC, weights}, {DNNL_ARG_WEIGHTS, borrow(v, c.v)}, {DNNL_ARG_DST, borrow(out, c.out)}}});
}

void plan_matmul(const BenchMatmul& m, Plan& plan) {
  const memory::desc x = describe({m.rows, m.inputs}), y = describe({m.rows, m.outputs});
  const memory::desc given = describe({m.inputs, m.outputs}, {1, m.inputs});
  const memory::desc any({m.inputs, m.outputs}, memory::data_type::f32, memory::format_tag::any);
  const dnnl::matmul::primitive_desc pd = product(x, any, y);
  // As attn does, the weight is laid out once as the product likes it.
  memory packed(pd.weights_desc(), engine());
  memory plain = borrow(given, m.weight);
  dnnl::reorder(plain, packed).execute(stream(), plain, packed);
  stream().wait();
  plan.steps.push_back(
      {dnnl::matmul(pd), {{DNNL_ARG_SRC, borrow(x, m.x)}, {DNNL_ARG_WEIGHTS, packed}, {DNNL_ARG_DST, borrow(y, m.y)}}});
}

template <class Call>
void* make_plan(const Call& call, void (*fill)(const Call&, Plan&)) {
  auto plan = std::make_unique<Plan>();
  return bench::guarded([&] { fill(call, *plan); }) == 0 ? plan.release() : nullptr;
}

}  // namespace

BENCH_API void* bench_plan_attention(const BenchAttention* c) { return make_plan(*c, plan_attention); }
BENCH_API void* bench_plan_matmul(const BenchMatmul* m) { return make_plan(*m, plan_matmul); }

BENCH_API int bench_run(void* plan) {
  return bench::guarded([&] {
    for (const Step& step : static_cast<Plan*>(plan)->steps) step.primitive.execute(stream(), step.arguments);
    stream().wait();
  });
}

BENCH_API const char* bench_about() {
  static std::string text;
  const dnnl_version_t* v = dnnl_version();
  text = std::to_string(v->major) + "." + std::to_string(v->minor) + "." + std::to_string(v->patch);
  return text.c_str();
}
