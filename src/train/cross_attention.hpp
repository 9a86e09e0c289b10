// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <attn/context.hpp>
#include <attn/observer.hpp>
#include <attn/tensor.hpp>
#include <cstddef>

namespace attn::train {

// Looks on while decoder layers run, each of which attends to its own text first and to the memory then, and keeps the
// weights of one layer's second call. An observer that the context already has is put back afterwards.
class CrossAttentionRecorder final : public AttentionObserver {
 public:
  // `layer` is counted from 0.
  CrossAttentionRecorder(std::ptrdiff_t layer, Context& context);
  ~CrossAttentionRecorder() override;
  CrossAttentionRecorder(const CrossAttentionRecorder&) = delete;
  CrossAttentionRecorder& operator=(const CrossAttentionRecorder&) = delete;

  void on_attention(const AttentionCall& call) override;
  // (batch, heads, target tokens, memory tokens) f32; holds nothing before that call.
  const Tensor& weights() const noexcept { return weights_; }

 private:
  std::ptrdiff_t calls_until_;
  Context& context_;
  AttentionObserver* previous_;
  bool is_asking_ = false;
  Tensor weights_;
};

}  // namespace attn::train
