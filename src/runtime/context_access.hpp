// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/context.hpp>

#include "runtime/executor.hpp"
#include "runtime/isa.hpp"
#include "runtime/scratch.hpp"

namespace attn::runtime {

// What the library's own folders reach in a Context.
struct ContextAccess {
  static Executor& executor(Context& context) noexcept;
  static ScratchPool& scratch(Context& context) noexcept;
  static const Isa& isa(const Context& context) noexcept;
};

}  // namespace attn::runtime
