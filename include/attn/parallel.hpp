// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/context.hpp>
#include <cstddef>
#include <functional>

namespace attn {

// Calls task(0) ... task(count - 1), each once, in about this order, from the context's threads, of which the caller is
// one; returns when all are done. The first exception of a task is thrown here, and tasks not yet begun may then be
// skipped. May be called from inside a task, and from several threads at a time.
ATTN_API void parallel_for(std::ptrdiff_t count, const std::function<void(std::ptrdiff_t)>& task,
                           Context& context = default_context());

}  // namespace attn
