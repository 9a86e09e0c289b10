// SPDX-License-Identifier: Apache-2.0
// What every library of script/bench shares: how a C function is declared, and what one that fails leaves behind.
#pragma once

#include <exception>
#include <utility>

#define BENCH_API extern "C" __attribute__((visibility("default")))

namespace bench {

// Keeps the sentence of an exception for bench_error(); gives what a C function returns: 0 is well.
void keep_error(const char* sentence);
template <class F>
int guarded(F&& f) noexcept {
  try {
    std::forward<F>(f)();
    return 0;
  } catch (const std::exception& e) {
    keep_error(e.what());
    return 1;
  }
}

}  // namespace bench
