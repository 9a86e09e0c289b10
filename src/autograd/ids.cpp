// SPDX-License-Identifier: Apache-2.0
#include "autograd/ids.hpp"

#include "base/concat.hpp"

namespace attn::autograd {

std::vector<std::int64_t> checked_ids(std::string_view where, std::string_view argument, const Tensor& ids,
                                      std::ptrdiff_t limit, std::optional<std::int64_t> allowed) {
  if (ids.dtype() != DType::i32 && ids.dtype() != DType::i64) {
    throw Error(where, argument, base::concat("dtype ", name_of(ids.dtype()), ", expected i32 or i64"));
  }
  const Tensor list = ids.is_contiguous() ? ids : ids.clone();
  std::vector<std::int64_t> values(static_cast<std::size_t>(list.size()));
  for (std::size_t n = 0; n < values.size(); ++n) {
    values[n] = list.dtype() == DType::i32 ? static_cast<const std::int32_t*>(list.data())[n]
                                           : static_cast<const std::int64_t*>(list.data())[n];
    if ((values[n] < 0 || values[n] >= limit) && values[n] != allowed) {
      throw Error(where, argument, base::concat(values[n], " at ", n, ", expected 0 to ", limit - 1));
    }
  }
  return values;
}

}  // namespace attn::autograd
