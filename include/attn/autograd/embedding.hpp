// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/autograd/variable.hpp>

namespace attn::autograd {

// Row ids[...] of `table` (rows, features) for each id: (..., features) in the table's dtype. ids: i32 or i64, any
// strides; they are read before this returns. The gradient of a row is summed over its ids in ascending order of their
// place. Throws Error naming an id that is not in the table.
ATTN_API Variable embedding(const Tensor& ids, const Variable& table, Context& context = default_context());

}  // namespace attn::autograd
