// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/error.hpp>
#include <attn/tensor.hpp>
#include <optional>
#include <string_view>
#include <vector>

namespace attn::autograd {

// The elements of an i32 or i64 tensor in row-major order. Throws Error unless each is 0 ... limit - 1, or `allowed`.
std::vector<std::int64_t> checked_ids(std::string_view where, std::string_view argument, const Tensor& ids,
                                      std::ptrdiff_t limit, std::optional<std::int64_t> allowed = {});

}  // namespace attn::autograd
