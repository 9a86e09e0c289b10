// SPDX-License-Identifier: Apache-2.0
// Why scores are divided by sqrt(d_k): the gradients of a deep stack of attention with and without it.
//
//   why_scale [PICTURE.png]
#include <attn/autograd.hpp>
#include <attn/draw/line_plot.hpp>
#include <attn/nn.hpp>
#include <cmath>
#include <cstdio>
#include <fstream>

namespace nn = attn::nn;

constexpr int kLayers = 12, kTokens = 24, kWidth = 128;

// x becomes norm(x + attention(x)), layer after layer; one head, so that d_k = 128.
struct Stack {
  std::vector<nn::MultiHeadAttention> attend;
  nn::LayerNorm norm{{.features = kWidth}};

  Stack() : attend(kLayers, nn::MultiHeadAttention({.embed_dim = kWidth, .num_heads = 1})) {}
  void visit(nn::ParameterVisitor& v) {
    for (std::size_t i = 0; i < attend.size(); ++i) v.within(std::to_string(i), attend[i]);
    v.within("norm", norm);
  }
};

// The norm of the gradient that reaches the weights of queries and keys, of each layer.
std::vector<double> gradient_norms(std::optional<double> scale) {
  Stack stack;
  // Queries and keys of mean 0 and variance 1 for inputs that have them: their products then have variance d_k.
  const double deviation = 1 / std::sqrt(double{kWidth});
  nn::initialise(stack, {.seed = 3, .scheme = nn::InitScheme::normal, .deviation = deviation});
  attn::Tensor x = attn::Tensor::empty(attn::DType::f32, kTokens, kWidth), target = x.clone();
  for (std::size_t i = 0; i < x.values<float>().size(); ++i) {
    const float n = static_cast<float>(i);
    x.values<float>()[i] = 1.4142f * std::sin(37 * n * n);
    target.values<float>()[i] = 1.4142f * std::sin(59 * n * n + 1);
  }
  nn::Variable y = stack.norm(nn::Variable(x));
  for (const nn::MultiHeadAttention& layer : stack.attend) {
    const nn::Variable mixed = layer(y, y, y, {.attention = {.scale = scale}}).y;
    y = stack.norm(attn::autograd::add(y, mixed));
  }
  nn::mse_loss(y, nn::Variable(target)).backward();

  std::vector<double> norms;
  for (const nn::NamedParameter& p : nn::parameters(stack)) {
    if (p.name.find("in_proj_weight") == std::string::npos) continue;
    double squares = 0;
    const attn::Tensor grad = p.variable.grad();
    for (const float g : grad.values<float>().first(2 * kWidth * kWidth)) squares += double{g} * double{g};
    norms.push_back(std::sqrt(squares));
  }
  return norms;
}

int main(int argc, char** argv) {
  const std::vector<double> scaled = gradient_norms({}), raw = gradient_norms(1.0);
  std::printf("gradient of the weights of queries and keys, d_k = %d\n", kWidth);
  std::printf("layer   with 1/sqrt(d_k)   without\n");
  attn::draw::Line with{.name = "with 1/sqrt(d_k)"}, without{.name = "without"};
  for (int i = 0; i < kLayers; ++i) {
    const std::size_t n = static_cast<std::size_t>(i);
    std::printf("%5d   %16.3e   %.3e\n", i + 1, scaled[n], raw[n]);
    with.x.push_back(i + 1);
    with.y.push_back(std::log10(scaled[n]));
    without.x.push_back(i + 1);
    without.y.push_back(std::log10(raw[n]));
  }
  if (argc < 2) return 0;
  std::ofstream(argv[1], std::ios::binary)
      << attn::draw::line_plot(std::vector{with, without}, attn::draw::FigureFormat::png,
                               {.title = "Gradients with and without 1/sqrt(d_k)",
                                .x_title = "layer",
                                .y_title = "log10 of the gradient's norm"});
}
