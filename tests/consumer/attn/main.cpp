// SPDX-License-Identifier: Apache-2.0
// Attention on tensors that went through a file: parts of the whole library in one program.
#include <attn/attention.hpp>
#include <attn/draw/colormap.hpp>
#include <attn/io/safetensors.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>

int main() {
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "attn-consumer.safetensors";
  attn::io::write_safetensors(file, {{"q", attn::Tensor::of<float>({2, 1, 0, 1, 1, 1}, 1, 1, 3, 2)},
                                     {"k", attn::Tensor::of<float>({0, 2, 2, 0, 1, 1}, 1, 1, 3, 2)},
                                     {"v", attn::Tensor::of<float>({1, 0, 1, 2, 1, 1}, 1, 1, 3, 2)}});
  const auto read = attn::io::SafeTensors::open(file);
  attn::Tensor weights = attn::Tensor::empty(attn::DType::f32, 1, 1, 3, 3);
  attn::attention(read.tensor("q"), read.tensor("k"), read.tensor("v"), {.weights = weights});
  std::filesystem::remove(file);

  const float largest = weights.values<float>()[1];
  const attn::draw::Rgb colour = attn::draw::Colormap::blues().rgb(largest);
  std::printf("%.6f is drawn as #%02x%02x%02x\n", static_cast<double>(largest), colour.red, colour.green, colour.blue);
  return std::fabs(largest - 0.575975f) < 1e-6f ? 0 : 1;
}
