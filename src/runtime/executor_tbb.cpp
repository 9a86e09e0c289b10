// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <mutex>

#include "runtime/executor.hpp"

namespace attn::runtime {
namespace {

// oneTBB gives a process as many threads as processors unless told otherwise, and of several global_controls the
// smallest limit counts. So there is one, as large as the largest context has asked for.
void allow_threads(int threads) {
  using tbb::global_control;
  static std::mutex mutex;
  static std::unique_ptr<global_control> control;
  const std::lock_guard lock(mutex);
  if (threads <= static_cast<int>(global_control::active_value(global_control::max_allowed_parallelism))) return;
  control.reset();
  control = std::make_unique<global_control>(global_control::max_allowed_parallelism, threads);
}

}  // namespace

struct Executor::Impl {
  explicit Impl(int threads) : arena(threads) {}
  tbb::task_arena arena;
};

Executor::Executor(int threads) : threads_(threads) {
  if (threads == 1) return;
  allow_threads(threads);
  impl_ = std::make_unique<Impl>(threads);
}

Executor::~Executor() = default;

void Executor::run(std::ptrdiff_t count, TaskRef task) {
  if (threads_ == 1 || count <= 1) {
    for (std::ptrdiff_t i = 0; i < count; ++i) task(i);
    return;
  }
  impl_->arena.execute([&] {
    // Isolated: a thread that waits for its tasks must not pick up a caller's unrelated work meanwhile.
    tbb::this_task_arena::isolate([&] {
      tbb::parallel_for(
          tbb::blocked_range<std::ptrdiff_t>(0, count, 1),
          [&](const tbb::blocked_range<std::ptrdiff_t>& range) {
            for (std::ptrdiff_t i = range.begin(); i < range.end(); ++i) task(i);
          },
          tbb::simple_partitioner());
    });
  });
}

}  // namespace attn::runtime
