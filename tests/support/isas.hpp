// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/context.hpp>
#include <string>
#include <vector>

namespace attn::test {

// The instruction sets to compute on: the machine's. ThreadSanitizer watches threads, which do the same on each, and
// makes a computation take a hundred times as long: the best set is enough for it.
inline std::vector<std::string> isas_to_test() {
  std::vector<std::string> isas = available_isas();
#ifdef __SANITIZE_THREAD__
  isas.resize(1);
#endif
  return isas;
}

// Whether an instruction set multiplies bf16 in pairs.
inline bool has_bf16_products(const std::string& isa) { return isa == "amx" || isa == "avx512_bf16"; }

}  // namespace attn::test
