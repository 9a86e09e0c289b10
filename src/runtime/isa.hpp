// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bf16_products.hpp"

namespace attn::runtime {

// An instruction set that is compiled in: its name, its bit in Highway's numbering, by which kernels are chosen, and
// how they multiply bf16 where they may choose.
struct Isa {
  std::string name;
  std::int64_t target = 0;
  base::Bf16Products bf16 = base::Bf16Products::widened;
};

// Compiled in, best first; and those of them that this machine has.
std::vector<Isa> compiled_isas();
std::vector<Isa> machine_isas();

// The set that `wanted` names; if it is empty, the one that the environment variable ATTN_ISA names; without either,
// the best that the machine has. Throws Error when it is unknown or the machine lacks it.
Isa choose_isa(const std::string& wanted);

}  // namespace attn::runtime
