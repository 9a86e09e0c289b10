// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/norm.hpp>
#include <string>

#include "ops/view_check.hpp"

namespace attn::ops {

// Throws unless the options fit rows of `features` numbers, which are as many `meaning`. Arguments are named behind
// `prefix`.
inline void check_norm(std::string_view where, const std::string& prefix, const NormOptions& options,
                       std::ptrdiff_t features, std::string_view meaning) {
  for (const bool is_weight : {true, false}) {
    const In<1>& parameter = is_weight ? options.weight : options.bias;
    if (!parameter.wanted()) continue;
    const std::string name = prefix + (is_weight ? "weight" : "bias");
    check_floating(where, name, parameter);
    check_extents(where, name, parameter, {features}, meaning);
  }
  if (!(options.eps >= 0)) throw Error(where, prefix + "eps", base::concat(options.eps, ", expected 0 or more"));
}

}  // namespace attn::ops
