// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <attn/error.hpp>
#include <attn/roofline.hpp>
#include <chrono>
#include <memory_resource>
#include <vector>

#include "base/concat.hpp"
#include "kernels/attention_bf16.hpp"
#include "kernels/peak.hpp"
#include "runtime/context_access.hpp"

namespace attn {
namespace {

// Far more than any cache that one machine's share of a processor has been seen to hold.
constexpr std::ptrdiff_t kReadBytes = std::ptrdiff_t{256} << 20;
constexpr std::ptrdiff_t kReadPiece = (std::ptrdiff_t{4} << 20) / static_cast<std::ptrdiff_t>(sizeof(float));
// About a millisecond: short enough to fall between two disturbances, long enough for the clock.
constexpr std::ptrdiff_t kFmaRounds = 500'000;

template <class Work>
double seconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double flops_of_work(DType products, const runtime::Isa& isa) {
  if (products == DType::bf16 && isa.bf16 != base::Bf16Products::widened) {
    return kernels::bf16_work(kFmaRounds / 4, isa.bf16, isa.target);
  }
  return (products == DType::f64 ? kernels::fma_work_f64 : kernels::fma_work_f32)(kFmaRounds, isa.target).flops;
}

double measure_products(DType products, runtime::Executor& executor, const runtime::Isa& isa) {
  // Pieces enough for whoever is awake to take another one.
  const std::ptrdiff_t tasks = executor.threads() == 1 ? 1 : 4 * std::ptrdiff_t{executor.threads()};
  double best = 0;
  for (int round = 0; round < 25; ++round) {
    std::atomic<double> flops = 0;
    const double seconds =
        seconds_of([&] { executor.run(tasks, [&](std::ptrdiff_t) { flops += flops_of_work(products, isa); }); });
    best = std::max(best, flops / seconds);
  }
  return best;
}

double measure_reading(runtime::Executor& executor, std::int64_t target, std::pmr::memory_resource* memory) {
  // Filled with something, since pages that were never written all show the same memory.
  const std::pmr::vector<float> data(kReadBytes / sizeof(float), 1.0F, memory);
  const std::ptrdiff_t pieces = static_cast<std::ptrdiff_t>(data.size()) / kReadPiece;
  double best = 0;
  std::atomic<float> sum = 0;
  for (int round = 0; round < 4; ++round) {
    const double seconds = seconds_of([&] {
      executor.run(pieces, [&](std::ptrdiff_t i) {
        sum += kernels::read_work(data.data() + i * kReadPiece, kReadPiece, target);
      });
    });
    best = std::max(best, static_cast<double>(kReadBytes) / seconds);
  }
  return best;
}

}  // namespace

Roofline measure_roofline(DType products, Context& context) {
  if (products != DType::f32 && products != DType::f64 && products != DType::bf16) {
    throw Error("measure_roofline", "products",
                base::concat("dtype ", name_of(products), ", expected f32, f64 or bf16"));
  }
  runtime::Executor& executor = runtime::ContextAccess::executor(context);
  const runtime::Isa& isa = runtime::ContextAccess::isa(context);
  return {.flops_per_second = measure_products(products, executor, isa),
          .bytes_per_second = measure_reading(executor, isa.target, context.memory())};
}

}  // namespace attn
