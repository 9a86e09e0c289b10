// SPDX-License-Identifier: Apache-2.0
// The loop of the tutorials: self-attention learns to turn random numbers into other random numbers, and the loss
// falls.
#include <attn/autograd.hpp>
#include <attn/nn.hpp>
#include <cmath>
#include <cstdio>

int main() {
  namespace nn = attn::nn;
  attn::Tensor x = attn::Tensor::empty(attn::DType::f32, 2, 6, 16), target = x.clone();
  for (std::size_t i = 0; i < x.values<float>().size(); ++i) {
    const float n = static_cast<float>(i);
    x.values<float>()[i] = std::sin(37 * n * n);  // as good as random, and the same everywhere
    target.values<float>()[i] = std::sin(59 * n * n + 1);
  }

  nn::SelfAttention layer({.d_model = 16, .d_k = 8, .d_v = 16});
  nn::initialise(layer, {.seed = 1});
  nn::Adam optimiser(nn::parameters(layer), {.lr = 0.01});
  for (int step = 0; step <= 200; ++step) {
    const nn::Variable y = layer(nn::Variable(x)).y;
    const nn::Variable loss = nn::mse_loss(y, nn::Variable(target));
    if (step % 40 == 0)
      std::printf("step %3d  loss %.4f\n", step, static_cast<double>(loss.value().values<float>()[0]));
    optimiser.zero_grad();
    loss.backward();
    optimiser.step();
  }
}
