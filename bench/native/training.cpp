// SPDX-License-Identifier: Apache-2.0
// Steps of training: an encoder, the mean squared error against a target, AdamW.
#include <attn/autograd.hpp>
#include <attn/memory_pool.hpp>
#include <attn/nn.hpp>
#include <optional>
#include <string>
#include <vector>

#include "native/calls.hpp"
#include "native/guard.hpp"

namespace {

using attn::nn::Variable;

struct Encoder {
  std::vector<attn::nn::TransformerEncoderLayer> layers;

  void visit(attn::nn::ParameterVisitor& v) {
    for (std::size_t i = 0; i < layers.size(); ++i) v.within("layers." + std::to_string(i), layers[i]);
  }
};

struct Training {
  attn::MemoryPool pool;  // What a step frees the next one takes, as a program that trains would have it.
  attn::Context context;
  Encoder encoder = {};
  attn::nn::StateDict state = {};  // until the first step
  std::optional<attn::nn::AdamW> optimiser = {};

  explicit Training(int threads) : context({.threads = threads, .memory = &pool}) {}

  double step(const Variable& x, const Variable& target) {
    if (!optimiser) {
      attn::nn::load_parameters(encoder, state);
      optimiser.emplace(attn::nn::parameters(encoder), attn::nn::AdamOptions{.lr = 1e-3, .weight_decay = 0.01});
    }
    optimiser->zero_grad();
    Variable y = x;
    for (const attn::nn::TransformerEncoderLayer& layer : encoder.layers) y = layer(y, {}, context);
    const Variable loss = attn::nn::mse_loss(y, target, context);
    loss.backward(context);
    optimiser->step(context);
    return static_cast<const float*>(loss.value().data())[0];
  }
};

// The caller's array as a tensor, without a copy.
Variable borrow(const float* data, std::int64_t batch, std::int64_t tokens, std::int64_t width) {
  return Variable(attn::Tensor::adopt(attn::view(const_cast<float*>(data), batch, tokens, width), nullptr));
}

}  // namespace

// An encoder of `layers` equal layers that norm after their residuals; null on failure. Lives until the process ends.
BENCH_API void* bench_training(std::int64_t layers, std::int64_t width, std::int64_t heads, std::int64_t feedforward,
                               int threads) {
  void* training = nullptr;
  bench::guarded([&] {
    auto* made = new Training(threads);
    for (std::int64_t i = 0; i < layers; ++i) {
      made->encoder.layers.emplace_back(
          attn::nn::EncoderLayerShape{.d_model = width, .nhead = heads, .dim_feedforward = feedforward});
    }
    training = made;
  });
  return training;
}

// A parameter to start from: (rows, columns), or of one dimension where columns is 0.
BENCH_API int bench_parameter(void* training, const char* name, const float* data, std::int64_t rows,
                              std::int64_t columns) {
  return bench::guarded([&] {
    auto* numbers = const_cast<float*>(data);
    static_cast<Training*>(training)->state[name] =
        columns == 0 ? attn::Tensor::adopt(attn::view(numbers, rows), nullptr).clone()
                     : attn::Tensor::adopt(attn::view(numbers, rows, columns), nullptr).clone();
  });
}

// One step on x and target, (batch, tokens, width); `loss` is that before the step.
BENCH_API int bench_step(void* training, const float* x, const float* target, std::int64_t batch, std::int64_t tokens,
                         std::int64_t width, double* loss) {
  return bench::guarded([&] {
    *loss =
        static_cast<Training*>(training)->step(borrow(x, batch, tokens, width), borrow(target, batch, tokens, width));
  });
}
