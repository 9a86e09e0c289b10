// SPDX-License-Identifier: Apache-2.0
#include <attn/parallel.hpp>

#include "runtime/context_access.hpp"

namespace attn {

void parallel_for(std::ptrdiff_t count, const std::function<void(std::ptrdiff_t)>& task, Context& context) {
  runtime::ContextAccess::executor(context).run(count, task);
}

}  // namespace attn
