// SPDX-License-Identifier: Apache-2.0
// A multi-head attention layer with PyTorch's weights: load a state dict, run it, look at its weights.
#include <attn/attn.hpp>
#include <attn/io/safetensors.hpp>
#include <attn/nn.hpp>
#include <cstdio>
#include <exception>

int main(int argc, char** argv) try {
  if (argc < 2) throw attn::Error("multi_head", "", "usage: multi_head WEIGHTS.safetensors [PREFIX]");
  const std::string prefix = argc > 2 ? argv[2] : "";
  const attn::io::SafeTensors file = attn::io::SafeTensors::open(argv[1]);
  attn::nn::StateDict weights;
  for (const std::string& name : file.names()) weights.emplace(name, file.tensor(name));
  const std::ptrdiff_t embed_dim = file.tensor(prefix + "out_proj.weight").extent(0);

  attn::nn::MultiHeadAttention layer({.embed_dim = embed_dim, .num_heads = 2});
  layer.load(weights, prefix);                                              // names and layouts are PyTorch's
  attn::Tensor x = attn::Tensor::zeros(attn::DType::f32, 1, 3, embed_dim);  // (batch, token, embed_dim)
  for (int i = 0; i < 3 && i < embed_dim; ++i) x.view<float, 3>()(0, i, i) = 1;
  const attn::nn::MhaOutput result = layer(x, x, x, {.need_weights = true});

  for (int i = 0; i < 3; ++i) {
    const auto w = result.weights.view<float, 3>();
    std::printf("token %d looks at (%.4f, %.4f, %.4f), y[0] = %.4f\n", i, w(0, i, 0), w(0, i, 1), w(0, i, 2),
                result.y.view<float, 3>()(0, i, 0));
  }
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 2;
}
