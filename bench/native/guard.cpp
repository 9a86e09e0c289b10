// SPDX-License-Identifier: Apache-2.0
#include "native/guard.hpp"

#include <string>

namespace {

std::string& last_error() {
  static std::string sentence;
  return sentence;
}

}  // namespace

namespace bench {

void keep_error(const char* sentence) { last_error() = sentence; }

}  // namespace bench

BENCH_API const char* bench_error() { return last_error().c_str(); }
