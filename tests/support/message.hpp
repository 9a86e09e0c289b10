// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/error.hpp>
#include <string>

namespace attn::test {

// What f throws.
template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace attn::test
