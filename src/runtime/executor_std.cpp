// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "runtime/executor.hpp"

namespace attn::runtime {

struct Executor::Impl {};

Executor::Executor(int threads) : threads_(threads) {}
Executor::~Executor() = default;

void Executor::run(std::ptrdiff_t count, TaskRef task) {
  std::atomic<std::ptrdiff_t> next = 0;
  std::exception_ptr failure;
  std::mutex failure_mutex;
  const auto work = [&] {
    for (std::ptrdiff_t i = next++; i < count; i = next++) {
      try {
        task(i);
      } catch (...) {
        next = count;
        const std::lock_guard lock(failure_mutex);
        if (!failure) failure = std::current_exception();
      }
    }
  };
  std::vector<std::thread> helpers;
  for (std::ptrdiff_t t = 1; t < threads_ && t < count; ++t) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace attn::runtime
