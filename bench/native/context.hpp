// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/context.hpp>

namespace bench {

// A context of so many threads, made at first use.
attn::Context& context_of(int threads);

}  // namespace bench
