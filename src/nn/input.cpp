// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <attn/nn/input.hpp>

#include "base/concat.hpp"

namespace attn::nn {

Input::Input(const Tensor& t) : data_(t.data()), dtype_(t.dtype()), rank_(t.rank()) {
  if (rank_ > kMaxRank) throw Error("Input", "tensor", base::concat("rank ", rank_, ", expected at most ", kMaxRank));
  std::copy(t.shape().begin(), t.shape().end(), extents_.begin());
  std::copy(t.strides().begin(), t.strides().end(), strides_.begin());
}

std::ptrdiff_t Input::size() const noexcept {
  std::ptrdiff_t n = 1;
  for (const std::ptrdiff_t extent : shape()) n *= extent;
  return n;
}

}  // namespace attn::nn
