// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/autograd/variable.hpp>

namespace attn::autograd {

// exp(x) / sum of exp(x) over the last dimension. A row of -inf gives zeros, as in attention.
ATTN_API Variable softmax(const Variable& x, Context& context = default_context());
// Its logarithm, computed as x - max - log(sum of exp(x - max)).
ATTN_API Variable log_softmax(const Variable& x, Context& context = default_context());

}  // namespace attn::autograd
