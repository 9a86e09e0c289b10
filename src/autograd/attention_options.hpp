// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/attention_options.hpp>
#include <attn/tensor.hpp>
#include <utility>
#include <vector>

namespace attn::autograd {

// Options that own what they view, so that they outlive the call.
struct OwnedOptions {
  AttentionOptions options;
  Tensor positions, bias, sink, alibi;
  std::vector<std::int32_t> cu_q, cu_k;

  explicit OwnedOptions(const AttentionOptions& given) : options(given) {
    options.mask = given.mask.owned();
    if (given.align.kind() == Align::Kind::positions) {
      const View<const std::int32_t, 2>& p = given.align.given_positions();
      positions = owned(In<2>(p));
      options.align = Align::positions(std::as_const(positions).view<std::int32_t, 2>());
    }
    options.bias = keep(given.bias, bias);
    options.sink = keep(given.sink, sink);
    options.alibi = keep(given.alibi, alibi);
    cu_q.assign(given.packing.cu_q.begin(), given.packing.cu_q.end());
    cu_k.assign(given.packing.cu_k.begin(), given.packing.cu_k.end());
    options.packing = {.cu_q = cu_q, .cu_k = cu_k};
  }
  OwnedOptions(const OwnedOptions&) = delete;
  OwnedOptions& operator=(const OwnedOptions&) = delete;

 private:
  template <int R>
  static Tensor owned(const In<R>& v) {
    return Tensor::adopt(v.dtype(), const_cast<void*>(v.data()), v.extents().n, v.strides().n, nullptr).clone();
  }
  template <int R>
  static In<R> keep(const In<R>& v, Tensor& memory) {
    // What attention will refuse is left for it to name.
    if (!v.wanted() || v.rank_found() != R || v.data() == nullptr) return v;
    memory = owned(v);
    return std::as_const(memory);
  }
};

}  // namespace attn::autograd
