// SPDX-License-Identifier: Apache-2.0
// What one writes by hand: for each head a matrix product, a softmax of each row, a matrix product, on OpenBLAS. f32.
#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "native/calls.hpp"
#include "native/guard.hpp"

namespace {

struct Plan {
  BenchAttention attention = {};
  BenchMatmul matmul = {};
  std::vector<float> scores = {};  // of one head; empty: it is a matrix product
};

// Keys first .. last - 1 of query i are visible, but for those that `keep` hides.
void softmax_row(const BenchAttention& c, std::int64_t i, float* row) {
  const std::int64_t position = i + c.keys - c.queries;
  const bool is_causal = c.is_causal != 0 || c.window_left >= 0;
  const std::int64_t last = is_causal ? std::min(c.keys, position + 1) : c.keys;
  const std::int64_t first = c.window_left >= 0 ? std::max<std::int64_t>(0, position - c.window_left) : 0;
  std::fill(row, row + first, 0.0F);
  std::fill(row + last, row + c.keys, 0.0F);
  float largest = -std::numeric_limits<float>::infinity();
  for (std::int64_t j = first; j < last; ++j) {
    if (c.bias != nullptr) row[j] += c.bias[i * c.keys + j];
    if (c.keep != nullptr && !c.keep[i * c.keys + j]) row[j] = -std::numeric_limits<float>::infinity();
    largest = std::max(largest, row[j]);
  }
  float sum = 0;
  for (std::int64_t j = first; j < last; ++j) sum += row[j] = std::exp(row[j] - largest);
  for (std::int64_t j = first; j < last; ++j) row[j] /= sum;
}

void run_attention(const BenchAttention& c, float* scores) {
  const auto L = static_cast<blasint>(c.queries), S = static_cast<blasint>(c.keys);
  const auto D = static_cast<blasint>(c.dim), Dv = static_cast<blasint>(c.value_dim);
  for (std::int64_t h = 0; h < c.batch * c.heads; ++h) {
    const std::int64_t kv = h / (c.heads / c.kv_heads);
    const float* q = static_cast<const float*>(c.q) + h * c.queries * c.dim;
    const float* k = static_cast<const float*>(c.k) + kv * c.keys * c.dim;
    const float* v = static_cast<const float*>(c.v) + kv * c.keys * c.value_dim;
    float* out = static_cast<float*>(c.out) + h * c.queries * c.value_dim;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, L, S, D, 1 / std::sqrt(static_cast<float>(c.dim)), q, D, k, D,
                0, scores, S);
    for (std::int64_t i = 0; i < c.queries; ++i) softmax_row(c, i, scores + i * c.keys);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, L, Dv, S, 1, scores, S, v, Dv, 0, out, Dv);
  }
}

void run_matmul(const BenchMatmul& m) {
  const auto rows = static_cast<blasint>(m.rows), inputs = static_cast<blasint>(m.inputs);
  const auto outputs = static_cast<blasint>(m.outputs);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, outputs, inputs, 1, m.x, inputs, m.weight, inputs, 0, m.y,
              outputs);
}

}  // namespace

BENCH_API void* bench_plan_attention(const BenchAttention* c) {
  auto plan = std::make_unique<Plan>(Plan{.attention = *c});
  const int failed = bench::guarded([&] {
    if (c->dtype != 1) throw std::runtime_error("f32 only");
    plan->scores.resize(static_cast<std::size_t>(c->queries * c->keys));
  });
  return failed == 0 ? plan.release() : nullptr;
}

BENCH_API void* bench_plan_matmul(const BenchMatmul* m) { return new Plan{.matmul = *m}; }

BENCH_API int bench_run(void* opaque) {
  auto* plan = static_cast<Plan*>(opaque);
  if (plan->scores.empty()) {
    run_matmul(plan->matmul);
  } else {
    run_attention(plan->attention, plan->scores.data());
  }
  return 0;
}

// Version, and the kernel that OpenBLAS chose for this processor.
BENCH_API const char* bench_about() {
  static const std::string text = std::string(OPENBLAS_VERSION) + ", kernel " + openblas_get_corename();
  return text.c_str();
}
