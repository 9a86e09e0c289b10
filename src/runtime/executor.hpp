// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace attn::runtime {

// A function of a task number, borrowed for the duration of a call.
class TaskRef {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, TaskRef>) TaskRef(const F& f)
      : object_(&f), call_([](const void* o, std::ptrdiff_t i) { (*static_cast<const F*>(o))(i); }) {}
  void operator()(std::ptrdiff_t task) const { call_(object_, task); }

 private:
  const void* object_;
  void (*call_)(const void*, std::ptrdiff_t);
};

// Runs numbered tasks on a fixed number of threads. Built on oneTBB, or on plain std::thread (ATTN_STD_THREADS) where
// a sanitizer must see every synchronisation.
class Executor {
 public:
  explicit Executor(int threads);
  ~Executor();
  int threads() const noexcept { return threads_; }

  // Calls task(0) ... task(count - 1), each once, in about this order, from at most threads() threads of which the
  // caller is one; returns when all are done. The first exception of a task is thrown here, and tasks not yet begun
  // may then be skipped. May be called from inside a task, and from several threads at a time.
  void run(std::ptrdiff_t count, TaskRef task);

 private:
  struct Impl;
  int threads_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace attn::runtime
