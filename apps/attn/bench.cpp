// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <attn/error.hpp>
#include <attn/roofline.hpp>
#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench_work.hpp"
#include "command.hpp"
#include "progress.hpp"

namespace attn::app {
namespace {

struct BenchCommand {
  CommonOptions common;
  BenchShape shape;
  double seconds = 1;
};

struct Timing {
  double best = 0, median = 0;  // seconds
  std::size_t runs = 0;
};

struct BenchResult {
  Description call = {};
  Timing timing = {};
  Roofline roofline = {};
  double flops = 0, bytes = 0;

  double speed() const { return flops / timing.best; }
  double bound() const { return roofline.attainable(flops, bytes); }
  double share() const { return speed() / bound(); }
};

// What else runs on a machine only ever adds to a time, so that the fastest of many runs says most about the work.
Timing time_call(BenchWork& work, Context& context, double seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t kFewest = 5;
  work.call(context);  // The first one touches memory for the first time.
  std::vector<double> times;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (times.size() < kFewest || Clock::now() < end) {
    const auto start = Clock::now();
    work.call(context);
    times.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  return {.best = times.front(), .median = times[times.size() / 2], .runs = times.size()};
}

nlohmann::json json_of(const BenchResult& r) {
  return {{"kernel", r.call.kernel},
          {"isa", r.call.isa},
          {"threads", r.call.threads},
          {"tile_q", r.call.tile_q},
          {"tile_k", r.call.tile_k},
          {"tasks", r.call.tasks},
          {"scratch_bytes", r.call.scratch_bytes},
          {"seconds", r.timing.best},
          {"seconds_median", r.timing.median},
          {"runs", r.timing.runs},
          {"flops", r.flops},
          {"bytes", r.bytes},
          {"flops_per_second", r.speed()},
          {"roofline",
           {{"flops_per_second", r.bound()},
            {"fma_flops_per_second", r.roofline.flops_per_second},
            {"read_bytes_per_second", r.roofline.bytes_per_second}}},
          {"share", r.share()}};
}

void print(const BenchResult& r) {
  const Description& call = r.call;
  fmt::print("kernel    {} ({}), tiles of {} queries x {} keys, {} on {}\n", call.kernel, call.isa, call.tile_q,
             call.tile_k, counted(call.tasks, "task"), counted(call.threads, "thread"));
  fmt::print("scratch   {:.2f} MB\n", static_cast<double>(call.scratch_bytes) / 1e6);
  fmt::print("time      {:.3f} ms, the fastest of {} runs; median {:.3f} ms\n", r.timing.best * 1e3, r.timing.runs,
             r.timing.median * 1e3);
  fmt::print("speed     {:.1f} GF/s, for {:.3f} Gflop over the visible pairs\n", r.speed() / 1e9, r.flops / 1e9);
  fmt::print("roofline  {:.1f} GF/s, the lower of {:.1f} GF/s in registers and {:.1f} GB/s x {:.1f} flops a byte\n",
             r.bound() / 1e9, r.roofline.flops_per_second / 1e9, r.roofline.bytes_per_second / 1e9, r.flops / r.bytes);
  fmt::print("share     {:.1f} %\n", 100 * r.share());
}

void bench(const BenchCommand& command) {
  // A range does not refuse what cannot be compared.
  if (std::isnan(command.seconds)) throw Error("--seconds", "", "nan, expected a number from 0 to 3600");
  Progress progress(shows_progress(command.common));
  progress.stage("drawing random numbers");
  BenchWork work = make_bench_work(command.shape);
  Context context(context_options(command.common));
  BenchResult result{.flops = work.flops, .bytes = work.bytes};
  result.call = work.describe(context);
  progress.stage("measuring the machine");
  const DType dtype = work.q.dtype();
  result.roofline = measure_roofline(dtype == DType::f64 || dtype == DType::bf16 ? dtype : DType::f32, context);
  progress.stage("timing attention");
  result.timing = time_call(work, context, command.seconds);
  progress.hide();
  if (command.common.json) {
    print_json(json_of(result));
  } else if (!command.common.quiet) {
    print(result);
  }
}

}  // namespace

void add_bench(CLI::App& app) {
  auto command = std::make_shared<BenchCommand>();
  CLI::App* verb =
      app.add_subcommand("bench", "How fast attention of your shape runs, beside what this machine can do");
  BenchShape& shape = command->shape;
  verb->add_option("--shape", shape.shape, "Batch, query heads, queries, keys, head dim")
      ->required()
      ->option_text("B,H,L,S,D");
  verb->add_option("--kv-heads", shape.kv_heads, "Heads of the keys and values, if fewer than of the queries")
      ->check(CLI::Range(1, 1'000'000))
      ->option_text("N");
  verb->add_option("--value-dim", shape.value_dim, "Dim of the values, if not that of the keys")
      ->check(CLI::Range(1, 1'000'000))
      ->option_text("N");
  verb->add_option("--dtype", shape.dtype, "f32 (default), f64, bf16 or f16")->option_text("TYPE");
  verb->add_flag("--causal", shape.is_causal, "A query sees no later key; the last one sees all");
  verb->add_flag("--backward", shape.is_backward, "Time the gradients of q, k and v in place of the forward call");
  verb->add_option("--window", shape.window, "Tokens that a query sees on each side of its own; inf opens a side")
      ->option_text("LEFT,RIGHT");
  verb->add_option("--seconds", command->seconds, "How long to repeat the call; 1 by default")
      ->check(CLI::Range(0.0, 3600.0))
      ->option_text("X");
  add_common_options(*verb, command->common, "attn bench --shape 1,12,512,512,64 --causal");
  verb->callback([command] { bench(*command); });
}

}  // namespace attn::app
