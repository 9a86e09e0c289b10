// SPDX-License-Identifier: Apache-2.0
#include "train/cross_attention.hpp"

#include <attn/attention.hpp>

namespace attn::train {

CrossAttentionRecorder::CrossAttentionRecorder(std::ptrdiff_t layer, Context& context)
    : calls_until_(2 * layer + 1), context_(context), previous_(context.observer()) {
  context_.set_observer(this);
}

CrossAttentionRecorder::~CrossAttentionRecorder() { context_.set_observer(previous_); }

void CrossAttentionRecorder::on_attention(const AttentionCall& call) {
  // Asking for the weights is a call itself.
  if (is_asking_ || calls_until_-- != 0) return;
  is_asking_ = true;
  weights_ = Tensor::empty(DType::f32, call.q.extent(0), call.q.extent(1), call.q.extent(2), call.kv.k().extent(2));
  attention(call.q, call.kv, AttentionOutputs{.weights = weights_}, call.options, context_);
  is_asking_ = false;
}

}  // namespace attn::train
