// SPDX-License-Identifier: Apache-2.0
#include <attn/autograd/elementwise.hpp>
#include <attn/nn/dropout_stream.hpp>

namespace attn::nn {

autograd::Variable dropout(const autograd::Variable& x, double p, DropoutStream* stream, Context& context) {
  return stream == nullptr || p == 0 ? x : autograd::dropout(x, stream->next(p), context);
}

}  // namespace attn::nn
